import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyText } from '../../test/any-text.ts';
import { utf8Length } from './utf8-length.ts';

it('returns the length that TextEncoder gives', () => {
  fc.assert(
    fc.property(anyText, (value) => {
      expect(utf8Length(value)).toBe(new TextEncoder().encode(value).length);
    }),
  );
});
