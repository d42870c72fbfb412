import type { OnLoss, Usage } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import { defined, fieldsOf, numberOf } from './read-fields.ts';

/** `LanguageModelUsage` of 6 and 7. What is not reported is absent: zero would be a claim. */
export function decodeUsage(value: unknown, model: string | undefined, onLoss: OnLoss): Usage[] {
  const usage = fieldsOf(value);
  const input = fieldsOf(usage.inputTokenDetails);
  const output = fieldsOf(usage.outputTokenDetails);
  const counts = defined({
    inputTokens: numberOf(usage.inputTokens),
    outputTokens: numberOf(usage.outputTokens),
    totalTokens: numberOf(usage.totalTokens),
    reasoningTokens: numberOf(output.reasoningTokens) ?? numberOf(usage.reasoningTokens),
    cacheReadTokens: numberOf(input.cacheReadTokens) ?? numberOf(usage.cachedInputTokens),
    cacheWriteTokens: numberOf(input.cacheWriteTokens),
    raw: usage.raw === undefined ? undefined : toJson(usage.raw, onLoss),
  });
  return Object.keys(counts).length === 0 ? [] : [{ ...(model !== undefined && { model }), ...counts }];
}
