import { expect, it } from 'vitest';
import { shallowEqual } from './shallow-equal.ts';

it.each([
  [{ type: 'text', text: 'a' }, { type: 'text', text: 'a' }, true],
  [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, false],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [{ input: {} }, { input: {} }, false],
  [undefined, undefined, true],
  [{}, undefined, false],
])('compares %j and %j: %s', (one, other, isEqual) => {
  expect(shallowEqual(one, other)).toBe(isEqual);
});
