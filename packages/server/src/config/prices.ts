import type { Usage } from '@intertie/core';

/** Prices of a model in US dollars per million tokens. */
export type Price = {
  input: number;
  output: number;
  /** Default: the price of input. */
  cacheRead?: number;
  /** Default: the price of input. */
  cacheWrite?: number;
};

/** Prices by model id, for example `claude-sonnet-4-5`. */
export type Prices = { readonly [model: string]: Price };

/** Computes the cost of a model call. Undefined if the model has no price or reported no usage. */
export function computeCost(prices: Prices, model: string, usage: Usage): number | undefined {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  if (price === undefined || (inputTokens === undefined && outputTokens === undefined)) return undefined;
  // Input includes the cached tokens.
  const plain = Math.max(0, (inputTokens ?? 0) - cacheReadTokens - cacheWriteTokens);
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const total =
    plain * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + (outputTokens ?? 0) * output;
  return total / 1_000_000;
}
