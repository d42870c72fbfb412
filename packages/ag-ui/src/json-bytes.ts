/** What stands behind the backslash of each character that has such an escape. */
const escapes = new Uint8Array(128);
for (const [character, escape] of Object.entries({ '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r' })) {
  escapes[character.charCodeAt(0)] = escape.charCodeAt(0);
}
const quote = 0x22;
const backslash = 0x5c;
escapes[quote] = quote;
escapes[backslash] = backslash;

/** How many bytes a unit of a text can take here. */
export const maxJsonBytes = 3;

/**
 * Writes a text as JSON says it in UTF-8, without its quotes, and gives where that ends. For the few words of a delta this is a
 * fraction of what asking the platform costs, twice. -1: there is something in it that only the platform shall say, a half of
 * a pair or a control character without a short escape.
 */
export function writeJsonText(text: string, bytes: Uint8Array, start: number): number {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (!isPlain(unit)) return writeOthers(text, index, bytes, start + index);
    bytes[start + index] = unit;
  }
  return start + text.length;
}

/** Whether it is the same in a text, in JSON and in UTF-8. */
function isPlain(unit: number): boolean {
  return unit >= 0x20 && unit < 0x80 && unit !== quote && unit !== backslash;
}

/** What follows the first character that is not plain. By itself: what writes plain ones is short enough to be compiled into its caller. */
function writeOthers(text: string, first: number, bytes: Uint8Array, start: number): number {
  let at = start;
  for (let index = first; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isPlain(unit)) bytes[at++] = unit;
    else if (unit < 0x80) {
      const escape = escapes[unit]!;
      if (escape === 0) return -1;
      bytes[at++] = backslash;
      bytes[at++] = escape;
    } else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      index += 1;
      const other = index < text.length ? text.charCodeAt(index) : 0;
      if (unit > 0xdbff || other < 0xdc00 || other > 0xdfff) return -1;
      const point = 0x10000 + ((unit - 0xd800) << 10) + (other - 0xdc00);
      bytes[at++] = 0xf0 | (point >> 18);
      bytes[at++] = 0x80 | ((point >> 12) & 0x3f);
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f);
      bytes[at++] = 0x80 | (point & 0x3f);
    }
  }
  return at;
}
