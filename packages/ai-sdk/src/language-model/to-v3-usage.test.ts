import { expect, test } from 'vitest';
import { toV3Usage } from './to-v3-usage.ts';

test('sums the usage of several models, and lists each in raw', () => {
  expect(
    toV3Usage([
      { model: 'a', inputTokens: 10, cacheReadTokens: 4, outputTokens: 3 },
      { model: 'b', inputTokens: 1 },
    ]),
  ).toEqual({
    inputTokens: { total: 11, noCache: 7, cacheRead: 4, cacheWrite: undefined },
    outputTokens: { total: 3, text: 3, reasoning: undefined },
    raw: {
      usage: [
        { model: 'a', inputTokens: 10, cacheReadTokens: 4, outputTokens: 3 },
        { model: 'b', inputTokens: 1 },
      ],
    },
  });
});

test('leaves counts undefined that are not reported', () => {
  expect(toV3Usage([])).toEqual({
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  });
});

test('leaves noCache undefined if the cache exceeds the input', () => {
  expect(toV3Usage([{ inputTokens: 2, cacheReadTokens: 9, raw: { own: 1 } }])).toMatchObject({
    inputTokens: { total: 2, noCache: undefined, cacheRead: 9 },
    raw: { own: 1 },
  });
});
