import { expect, it } from 'vitest';
import { moveSeparator, parseShares } from './column-shares.ts';

it('moves width from one column to its neighbour', () => {
  expect(moveSeparator([1, 1, 1], 1, 75, 900)).toEqual([1.25, 0.75, 1]);
});

it('keeps both columns readable', () => {
  const [left, right] = moveSeparator([1, 1], 1, 10_000, 600);
  expect([(left! / 2) * 600, (right! / 2) * 600]).toEqual([480, 120]);
});

it('leaves the widths unchanged if there is no room', () => {
  expect(moveSeparator([1, 1], 1, 10, 200)).toEqual([1, 1]);
});

it.each([
  ['1 2 1', 3, [1, 2, 1]],
  ['1 2', 3, [1, 1, 1]],
  ['1 0 x', 3, [1, 1, 1]],
  ['', 2, [1, 1]],
])('reads stored widths %j for %i columns', (text, count, shares) => {
  expect(parseShares(text, count)).toEqual(shares);
});
