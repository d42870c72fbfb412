import { expect, it } from 'vitest';
import { matchesETag } from './matches-etag.ts';

it.each([
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ['"b",W/"a" ,"c"', true],
  ['*', true],
  ['"x,y", "a"', true],
  [undefined, false],
  ['', false],
  ['"b"', false],
  ['a', false],
  ['"a', false],
  ['"x", *', false],
])('compares If-None-Match %s with the tag "a"', (header, matches) => {
  expect(matchesETag(header, '"a"')).toBe(matches);
});
