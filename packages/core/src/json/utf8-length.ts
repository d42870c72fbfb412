/** How many bytes a string takes as UTF-8, without making them. A lone surrogate counts as its replacement does. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    // Each half of a pair counts two of its four bytes; alone it counts three.
    else if (code < 0xd800 || code > 0xdfff || !isPaired(text, index, code)) bytes += 2;
    else bytes += 1;
  }
  return bytes;
}

function isPaired(text: string, index: number, code: number): boolean {
  const other = code < 0xdc00 ? text.charCodeAt(index + 1) : text.charCodeAt(index - 1);
  return code < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}
