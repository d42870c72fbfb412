import type { Usage } from '@intertie/core';
import { expect, test } from 'vitest';
import { addUsage, toUsage } from './agent-usage.ts';

const complete = { type: 'agent:complete', nodeId: 'a', runId: 'n' } as const;

test('converts the usage of one model, of several, and of none', () => {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4 };
  expect(toUsage({ ...complete, usage, modelUsage: { m: {} }, totalCostUsd: 0.5 })).toEqual([
    { model: 'm', inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, costUsd: 0.5 },
  ]);
  const modelUsage = { m: { inputTokens: 1 }, n: { inputTokens: 2 } };
  expect(toUsage({ ...complete, usage: { inputTokens: 3 }, modelUsage })).toEqual([
    { inputTokens: 3, raw: modelUsage },
  ]);
  expect(toUsage(complete)).toBeUndefined();
});

test('adds usage per model without changing its input', () => {
  const total: Usage[] = [];
  const given: Usage = { model: 'm', inputTokens: 1 };
  for (const more of [given, given, { model: 'n', outputTokens: 1 }]) addUsage(total, [more]);
  expect(total).toEqual([
    { model: 'm', inputTokens: 2 },
    { model: 'n', outputTokens: 1 },
  ]);
  expect(given).toEqual({ model: 'm', inputTokens: 1 });
});
