import { expect, it } from 'vitest';

import { toScope } from './scope.ts';

it('accepts ids in any script up to 256 bytes', () => {
  for (const id of ['ada', '🧵'.repeat(64), 'ä'.repeat(128)]) expect(toScope(id)).toBe(id);
});

it.each([
  ['an empty id', '', '1 to 256 bytes'],
  ['an id of more than 256 bytes', 'ä'.repeat(129), '1 to 256 bytes'],
  ['an id with NUL', 'a\0b', 'NUL'],
  ['an id with an unpaired surrogate', 'a\uD800', 'unpaired surrogate'],
])('rejects %s', (_, id, text) => {
  expect(() => toScope(id)).toThrow(RangeError);
  expect(() => toScope(id)).toThrow(text);
});
