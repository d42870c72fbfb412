import fc from 'fast-check';
import { expect, it } from 'vitest';
import { utf8Length } from './utf8-length.ts';

it('counts what an encoder makes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\0')).map((units) => units.join('')),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(utf8Length(value)).toBe(new TextEncoder().encode(value).length);
    }),
  );
});
