import { expect, it } from 'vitest';
import { findMatches, toLines } from './long-text-lines.ts';

it('splits a text into lines, and very long lines into pieces', () => {
  expect(toLines('a\r\nb\n')).toEqual(['a', 'b', '']);
  expect(toLines('x'.repeat(2500)).map(({ length }) => length)).toEqual([1000, 1000, 500]);
});

it('finds the lines that contain a text, in any case', () => {
  expect(findMatches(['One', 'two', 'twone'], 'ONE')).toEqual([0, 2]);
  expect(findMatches(['One'], '')).toEqual([]);
});
