/** Returns the length of a string in bytes of UTF-8, without encoding it. A lone surrogate counts as U+FFFD, its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    // Each half of a surrogate pair counts two of its four bytes. A lone half counts three.
    else if (code < 0xd800 || code > 0xdfff || !isPaired(text, index, code)) bytes += 2;
    else bytes += 1;
  }
  return bytes;
}

function isPaired(text: string, index: number, code: number): boolean {
  const other = code < 0xdc00 ? text.charCodeAt(index + 1) : text.charCodeAt(index - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}
