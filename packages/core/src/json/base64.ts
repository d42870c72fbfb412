const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const INVALID = 255;
const VALUES: Uint8Array = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value;

const DIGITS: Uint8Array = new TextEncoder().encode(ALPHABET);
const PADDING = 0x3d;

/** Encodes bytes as padded base64, with the platform's own method if there is one. */
export function encodeBase64(bytes: Uint8Array): string {
  const native = bytes as Uint8Array & { toBase64?: () => string };
  if (typeof native.toBase64 === 'function') return native.toBase64();
  // Writes ASCII bytes and decodes them once: several times as fast as `btoa`, which needs a string as input.
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  let at = 0;
  for (let index = 0; index < bytes.length; index += 3) {
    const bits = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    text[at] = DIGITS[bits >> 18] as number;
    text[at + 1] = DIGITS[(bits >> 12) & 63] as number;
    text[at + 2] = DIGITS[(bits >> 6) & 63] as number;
    text[at + 3] = DIGITS[bits & 63] as number;
    at += 4;
  }
  if (bytes.length % 3 > 0) text[at - 1] = PADDING;
  if (bytes.length % 3 === 1) text[at - 2] = PADDING;
  return new TextDecoder().decode(text);
}

/**
 * Decodes base64. Strict: standard alphabet, padded, no white space and no stray bits, so that encoding the result gives the same
 * text. `atob` is lenient and does not report the position of an error.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 !== 0) {
    throw new TypeError(`Not base64: ${text.length} characters, not a multiple of four. Is it padded with "="?`);
  }
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let at = 0;
  for (let start = 0; start < digits; start += 4) {
    const bits =
      (digit(text, start, digits) << 18) |
      (digit(text, start + 1, digits) << 12) |
      (digit(text, start + 2, digits) << 6) |
      digit(text, start + 3, digits);
    // Typed arrays ignore writes past their end, so the padded tail needs no special case.
    bytes[at] = bits >> 16;
    bytes[at + 1] = bits >> 8;
    bytes[at + 2] = bits;
    at += 3;
    if (start + 4 > digits && (padding === 2 ? bits & 0xffff : bits & 0xff) !== 0) {
      throw new TypeError('Not base64: the last character has bits beyond the last byte.');
    }
  }
  return bytes;
}

/** Returns the value of a digit; 0 for the padding. */
function digit(text: string, index: number, digits: number): number {
  if (index >= digits) return 0;
  const value = VALUES[text.charCodeAt(index)] ?? INVALID;
  if (value === INVALID) {
    throw new TypeError(`Not base64: ${JSON.stringify(text[index])} at position ${index} is not in the alphabet.`);
  }
  return value;
}
