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

/** What the models of a run have used: one entry for each, and the total as AG-UI counts it. */
export function encodeUsage(usage: readonly Usage[] | undefined, { v1 }: AGUIFeatures): TokenUsage[] | undefined {
  const entries = new Map<string, TokenUsage>();
  for (const used of usage ?? []) {
    const entry = entryOf(used, v1);
    const model = JSON.stringify([used.provider, used.model]);
    const known = entries.get(model);
    entries.set(model, known ? sumOf(known, entry) : entry);
  }
  return entries.size > 0 ? Array.from(entries.values(), withTotal) : undefined;
}

function entryOf(used: Usage, v1: boolean): TokenUsage {
  const reasoningTokens = countOf(used.reasoningTokens);
  const cachedInputTokens = countOf(used.cacheReadTokens);
  const cacheWriteInputTokens = countOf(used.cacheWriteTokens);
  return defined({
    provider: used.provider,
    model: used.model,
    inputTokens: withParts(countOf(used.inputTokens), cachedInputTokens, cacheWriteInputTokens),
    outputTokens: withParts(countOf(used.outputTokens), reasoningTokens),
    totalTokens: countOf(used.totalTokens),
    reasoningTokens,
    cachedInputTokens,
    cacheWriteInputTokens: v1 ? cacheWriteInputTokens : undefined,
  });
}

/**
 * A count that includes its parts, as AG-UI demands. Some providers do not count reasoning as output, or cached tokens as input
 * (xAI through an OpenAI-compatible provider). Such a count is recognised by a part that exceeds the whole.
 */
function withParts(whole: number | undefined, ...parts: Array<number | undefined>): number | undefined {
  if (whole === undefined || !parts.some((part = 0) => part > whole)) return whole;
  return parts.reduce<number>((sum, part = 0) => sum + part, whole);
}

function sumOf(one: TokenUsage, other: TokenUsage): TokenUsage {
  const sum = { ...one };
  for (const count of counts) {
    const added = other[count];
    if (added !== undefined) sum[count] = (sum[count] ?? 0) + added;
  }
  return sum;
}

/** A provider may count its total otherwise. */
function withTotal(entry: TokenUsage): TokenUsage {
  const { inputTokens, outputTokens, totalTokens } = entry;
  if (inputTokens === undefined || outputTokens === undefined || totalTokens === undefined) return entry;
  return { ...entry, totalTokens: inputTokens + outputTokens };
}

function countOf(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
