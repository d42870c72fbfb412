import type { JsonObject, OnLoss, Usage } from '@intertie/core';

const countFields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
] as const;

export type TokenCounts = { [Name in (typeof countFields)[number]]: number };

/** Adds the usage of all models of a run. Many clients fail without usage, so a missing report becomes zeros and a loss. */
function sumTokens(usage: readonly Usage[] | undefined, onLoss: OnLoss): TokenCounts {
  const counts = Object.fromEntries(countFields.map((name) => [name, 0])) as TokenCounts;
  for (const entry of usage ?? []) for (const name of countFields) counts[name] += entry[name] ?? 0;
  if (counts.totalTokens === 0) counts.totalTokens = counts.inputTokens + counts.outputTokens;
  if (counts.totalTokens === 0) {
    onLoss({
      kind: 'repaired',
      what: 'usage',
      why: 'The runtime reported none, and clients require it. It is sent as 0.',
    });
  }
  return counts;
}

export function encodeUsage(usage: readonly Usage[] | undefined, onLoss: OnLoss): JsonObject {
  const counts = sumTokens(usage, onLoss);
  return {
    input_tokens: counts.inputTokens,
    input_tokens_details: { cached_tokens: counts.cacheReadTokens, cache_write_tokens: counts.cacheWriteTokens },
    output_tokens: counts.outputTokens,
    output_tokens_details: { reasoning_tokens: counts.reasoningTokens },
    total_tokens: counts.totalTokens,
  };
}

/** Usage in the format of chat completions. */
export function encodeChatUsage(usage: readonly Usage[] | undefined, onLoss: OnLoss): JsonObject {
  const counts = sumTokens(usage, onLoss);
  return {
    prompt_tokens: counts.inputTokens,
    completion_tokens: counts.outputTokens,
    total_tokens: counts.totalTokens,
    prompt_tokens_details: { cached_tokens: counts.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: counts.reasoningTokens },
  };
}
