import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTokens } from './json-tokens.ts';

describe('jsonTokens', () => {
  it('tells keys from strings, numbers and words', () => {
    const kinds = jsonTokens({ a: 'b', n: -1.5e3, ok: true }).filter(({ kind }) => kind !== 'mark');
    expect(kinds.map(({ kind, text }) => [kind, text])).toEqual([
      ['key', '"a"'],
      ['string', '"b"'],
      ['key', '"n"'],
      ['number', '-1500'],
      ['key', '"ok"'],
      ['word', 'true'],
    ]);
  });

  it('loses nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = jsonTokens(value)
          .map((token) => token.text)
          .join('');
        expect(text).toBe(JSON.stringify(value, undefined, 2));
      }),
    );
  });
});
