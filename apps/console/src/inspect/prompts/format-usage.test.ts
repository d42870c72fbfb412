import { expect, it } from 'vitest';
import { formatCost, formatUsage } from './format-usage.ts';

it('formats token counts', () => {
  expect(formatUsage({ inputTokens: 1204, cacheReadTokens: 1000, outputTokens: 56 })).toBe(
    '1,204 in (1,000 cached) · 56 out',
  );
  expect(formatUsage({})).toBe('');
});

it('formats costs with two significant digits', () => {
  expect([0, 0.0000123, 0.00456, 0.12, 2.5].map(formatCost)).toEqual([
    '$0.00',
    '$0.000012',
    '$0.0046',
    '$0.12',
    '$2.50',
  ]);
});
