import type { TokenUsage } from '@ag-ui/core';
import type { Usage } from '@intertie/core';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import { defined } from '../shared/read-fields.ts';

const counts = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
] as const;

/** Encodes the usage of a run: one entry per model, with AG-UI's definition of the total. */
export function encodeUsage(usage: readonly Usage[] | undefined, { v1 }: AGUIFeatures): TokenUsage[] | undefined {
  const entries = new Map<string, TokenUsage>();
  for (const used of usage ?? []) {
    const entry = toEntry(used, v1);
    const model = JSON.stringify([used.provider, used.model]);
    const known = entries.get(model);
    entries.set(model, known ? addUsage(known, entry) : entry);
  }
  return entries.size > 0 ? Array.from(entries.values(), withTotal) : undefined;
}

function toEntry(used: Usage, v1: boolean): TokenUsage {
  const reasoningTokens = toCount(used.reasoningTokens);
  const cachedInputTokens = toCount(used.cacheReadTokens);
  const cacheWriteInputTokens = toCount(used.cacheWriteTokens);
  return defined({
    provider: used.provider,
    model: used.model,
    inputTokens: withParts(toCount(used.inputTokens), cachedInputTokens, cacheWriteInputTokens),
    outputTokens: withParts(toCount(used.outputTokens), reasoningTokens),
    totalTokens: toCount(used.totalTokens),
    reasoningTokens,
    cachedInputTokens,
    cacheWriteInputTokens: v1 ? cacheWriteInputTokens : undefined,
  });
}

/**
 * Returns a count that includes its parts, as AG-UI requires. Some providers do not count reasoning as output, or cached tokens
 * as input (xAI through an OpenAI-compatible provider). Such a count is recognised by a part that exceeds the whole.
 */
function withParts(whole: number | undefined, ...parts: Array<number | undefined>): number | undefined {
  if (whole === undefined || !parts.some((part = 0) => part > whole)) return whole;
  return parts.reduce<number>((sum, part = 0) => sum + part, whole);
}

function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const sum = { ...one };
  for (const count of counts) {
    const added = other[count];
    if (added !== undefined) sum[count] = (sum[count] ?? 0) + added;
  }
  return sum;
}

/** Sets the total to the sum of input and output: providers may define it differently. */
function withTotal(entry: TokenUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = entry;
  if (inputTokens === undefined || outputTokens === undefined || totalTokens === undefined) return entry;
  return { ...entry, totalTokens: inputTokens + outputTokens };
}

function toCount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
