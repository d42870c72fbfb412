import { expect, it } from 'vitest';
import { computeCost } from './prices.ts';

const prices = { large: { input: 3, output: 15, cacheRead: 0.3 } };

it('computes the cost of a call, with cached input at its own price', () => {
  const usage = { inputTokens: 2000, cacheReadTokens: 1000, outputTokens: 100 };
  expect(computeCost(prices, 'large', usage)).toBeCloseTo(0.0048);
});

it('computes no cost without a price or without usage', () => {
  expect(computeCost(prices, 'other', { inputTokens: 1 })).toBeUndefined();
  expect(computeCost(prices, 'toString', { inputTokens: 1 })).toBeUndefined();
  expect(computeCost(prices, 'large', {})).toBeUndefined();
});
