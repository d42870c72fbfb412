const PADDING = 0x3d;

/**
 * Whether a text has the form that `decodeBase64` reads: standard alphabet, padded to a multiple of four. The empty text is an
 * empty file. One pass without allocations, because files are large and checked more than once.
 */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  let end = text.length;
  if (text.charCodeAt(end - 1) === PADDING) end -= text.charCodeAt(end - 2) === PADDING ? 2 : 1;
  for (let index = 0; index < end; index += 1) {
    if (!isDigit(text.charCodeAt(index))) return false;
  }
  return true;
}

function isDigit(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || // a to z
    (code >= 0x41 && code <= 0x5a) || // A to Z
    (code >= 0x30 && code <= 0x39) || // 0 to 9
    code === 0x2b || // +
    code === 0x2f // /
  );
}
