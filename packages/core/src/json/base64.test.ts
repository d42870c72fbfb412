import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64 } from './base64.ts';

describe('base64', () => {
  it('encodes like Buffer and decodes its own output', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(text)).toEqual(new Uint8Array(bytes));
      }),
    );
  });

  it.each([0, 100_000, 100_001, 100_002])('encodes and decodes %i bytes', (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31) & 0xff);
    const text = encodeBase64(bytes);
    expect(text).toBe(Buffer.from(bytes).toString('base64'));
    expect(Buffer.from(decodeBase64(text)).equals(bytes)).toBe(true);
  });

  it('encodes the bytes of a view, not of its buffer', () => {
    expect(encodeBase64(new Uint8Array([1, 2, 3, 4]).subarray(1, 3))).toBe('AgM=');
  });

  it.each([
    ['missing padding', 'QQ', /multiple of four/],
    ['white space', 'QUJD\nQUJ', /"\\n" at position 4/],
    ['the URL alphabet', 'QU_D', /"_" at position 2/],
    ['padding inside', 'QQ==QUJD', /"=" at position 2/],
    ['too much padding', 'Q===', /"=" at position 1/],
    ['a character beyond ASCII', 'QUJ€', /"€" at position 3/],
    ['stray bits before ==', 'QR==', /bits/],
    ['stray bits before =', 'QUJ=', /bits/],
  ])('rejects %s', (_, text, message) => {
    expect(() => decodeBase64(text)).toThrow(message);
  });

  it('uses the native toBase64 if it exists', () => {
    const bytes = Object.assign(new Uint8Array(1), { toBase64: () => 'native' });
    expect(encodeBase64(bytes)).toBe('native');
  });
});
