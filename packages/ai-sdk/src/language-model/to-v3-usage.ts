import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import type { JsonObject, Usage } from '@intertie/core';
import { asJsonObject } from '../shared/read-fields.ts';

type Count = 'inputTokens' | 'outputTokens' | 'reasoningTokens' | 'cacheReadTokens' | 'cacheWriteTokens';

/** Everything that was used, as the nested usage of a V3 model. What nobody reported stays undefined. */
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

/** The rest, unless the parts do not fit the whole: some count the cache beside the input. */
function subtract(whole: number | undefined, part: number): number | undefined {
  return whole === undefined || part > whole ? undefined : whole - part;
}

/** One model's own words; of several, each with what it used. */
function getRawUsage(usages: readonly Usage[]): JsonObject | undefined {
  const [only, ...others] = usages;
  if (others.length > 0) return { usage: [...usages] };
  return only?.raw === undefined ? undefined : asJsonObject(only.raw);
}
