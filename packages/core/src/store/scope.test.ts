import { expect, it } from 'vitest';

import { toScope } from './scope.ts';

it('takes the id of a principal in any script, up to 256 bytes', () => {
  for (const id of ['ada', '🧵'.repeat(64), 'ä'.repeat(128)]) expect(toScope(id)).toBe(id);
});

it.each([
  ['nothing', '', '1 to 256 bytes'],
  ['more than 256 bytes', 'ä'.repeat(129), '1 to 256 bytes'],
  ['a NUL', 'a\0b', 'no NUL'],
  ['half of a surrogate pair', 'a\uD800', 'half of a surrogate pair'],
])('refuses %s', (_, id, text) => {
  expect(() => toScope(id)).toThrow(RangeError);
  expect(() => toScope(id)).toThrow(text);
});
