import type { OnLoss, Usage } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import { defined, asFields, asNumber } from './read-fields.ts';

/** `LanguageModelUsage` of 6 and 7. What is not reported is absent: zero would be a claim. */
export function decodeUsage(value: unknown, model: string | undefined, onLoss: OnLoss): Usage[] {
  const usage = asFields(value);
  const input = asFields(usage.inputTokenDetails);
  const output = asFields(usage.outputTokenDetails);
  const counts = defined({
    inputTokens: asNumber(usage.inputTokens),
    outputTokens: asNumber(usage.outputTokens),
    totalTokens: asNumber(usage.totalTokens),
    reasoningTokens: asNumber(output.reasoningTokens) ?? asNumber(usage.reasoningTokens),
    cacheReadTokens: asNumber(input.cacheReadTokens) ?? asNumber(usage.cachedInputTokens),
    cacheWriteTokens: asNumber(input.cacheWriteTokens),
    raw: usage.raw === undefined ? undefined : toJson(usage.raw, onLoss),
  });
  return Object.keys(counts).length === 0 ? [] : [{ ...(model !== undefined && { model }), ...counts }];
}
