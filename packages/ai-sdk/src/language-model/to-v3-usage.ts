import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import type { JsonObject, Usage } from '@intertie/core';
import { asJsonObject } from '../shared/read-fields.ts';

type Count = 'inputTokens' | 'outputTokens' | 'reasoningTokens' | 'cacheReadTokens' | 'cacheWriteTokens';

/** Sums usage into the nested form of a V3 model. Counts that are not reported stay undefined. */
export function toV3Usage(usages: readonly Usage[]): LanguageModelV3Usage {
  const total = (count: Count): number | undefined =>
    usages.reduce<number | undefined>((sum, { [count]: n }) => (n === undefined ? sum : (sum ?? 0) + n), undefined);
  const input = total('inputTokens');
  const cacheRead = total('cacheReadTokens');
  const cacheWrite = total('cacheWriteTokens');
  const output = total('outputTokens');
  const reasoning = total('reasoningTokens');
  const raw = getRawUsage(usages);
  return {
    inputTokens: {
      total: input,
      noCache: subtract(input, (cacheRead ?? 0) + (cacheWrite ?? 0)),
      cacheRead,
      cacheWrite,
    },
    outputTokens: { total: output, text: subtract(output, reasoning ?? 0), reasoning },
    ...(raw && { raw }),
  };
}

/** Undefined if the part exceeds the whole: some providers do not count the cache as input. */
function subtract(whole: number | undefined, part: number): number | undefined {
  return whole === undefined || part > whole ? undefined : whole - part;
}

/** Returns the raw usage of a single model, or the list if there are several. */
function getRawUsage(usages: readonly Usage[]): JsonObject | undefined {
  const [only, ...others] = usages;
  if (others.length > 0) return { usage: [...usages] };
  return only?.raw === undefined ? undefined : asJsonObject(only.raw);
}
