import type { Usage } from '@intertie/core';
import { expect, test } from 'vitest';
import { checkUsage } from '../check/check-producer.ts';
import { encodeUsage } from './encode-usage.ts';

const encode = (usage: Usage[]): unknown => encodeUsage(usage, { v1: true } as Parameters<typeof encodeUsage>[1]);

function violations(usage: unknown): string[] {
  const found: string[] = [];
  checkUsage(usage, (_rule, message) => void found.push(message));
  return found;
}

test('counts reasoning as output where the provider does not', () => {
  const usage = encode([{ inputTokens: 12, outputTokens: 1, reasoningTokens: 290, totalTokens: 303 }]);
  expect(usage).toEqual([{ inputTokens: 12, outputTokens: 291, reasoningTokens: 290, totalTokens: 303 }]);
  expect(violations(usage)).toEqual([]);
});

test('counts cached tokens as input where the provider does not', () => {
  const usage = encode([{ inputTokens: 2, cacheReadTokens: 100, cacheWriteTokens: 1, outputTokens: 5 }]);
  expect(usage).toEqual([{ inputTokens: 103, cachedInputTokens: 100, cacheWriteInputTokens: 1, outputTokens: 5 }]);
  expect(violations(usage)).toEqual([]);
});

test('keeps counts that include their parts', () => {
  const usage = encode([{ inputTokens: 12, cacheReadTokens: 11, outputTokens: 291, reasoningTokens: 290 }]);
  expect(usage).toEqual([{ inputTokens: 12, cachedInputTokens: 11, outputTokens: 291, reasoningTokens: 290 }]);
});
