const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const INVALID = 255;
const VALUES: Uint8Array = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value;

const DIGITS: Uint8Array = new TextEncoder().encode(ALPHABET);
const PADDING = 0x3d;

/** Bytes as base64 with padding, by the platform's own method where there is one. */
export function encodeBase64(bytes: Uint8Array): string {
  const native = bytes as Uint8Array & { toBase64?: () => string };
  if (typeof native.toBase64 === 'function') return native.toBase64();
  // Written as ASCII and decoded at once: several times as fast as `btoa`, which wants a string first.
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
 * Base64 as bytes. Strict: the standard alphabet, padded, no white space, no stray bits, so that one text is one file and
 * encoding gives the same text again. `atob` is not, and says nowhere what was wrong.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 !== 0) {
    throw new TypeError(`Not base64: ${text.length} characters are no multiple of four. Is it padded with "="?`);
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
    // Writes past the end of a typed array are ignored, so the padded tail needs no case of its own.
    bytes[at] = bits >> 16;
    bytes[at + 1] = bits >> 8;
    bytes[at + 2] = bits;
    at += 3;
    if (start + 4 > digits && (padding === 2 ? bits & 0xffff : bits & 0xff) !== 0) {
      throw new TypeError('Not base64: the last character holds bits that belong to no byte.');
    }
  }
  return bytes;
}

/** Zero past the last digit: that is the padding. */
function digit(text: string, index: number, digits: number): number {
  if (index >= digits) return 0;
  const value = VALUES[text.charCodeAt(index)] ?? INVALID;
  if (value === INVALID) {
    throw new TypeError(`Not base64: ${JSON.stringify(text[index])} at position ${index} is not of its alphabet.`);
  }
  return value;
}
