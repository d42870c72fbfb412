import type { Usage } from '@intertie/core';

/** Formats the token counts of a model call, for example `1,204 in (1,000 cached) · 56 out`. */
export function formatUsage({ inputTokens, cacheReadTokens, outputTokens, reasoningTokens }: Usage): string {
  const parts = [
    inputTokens !== undefined && `${formatCount(inputTokens)} in${suffix(cacheReadTokens, 'cached')}`,
    outputTokens !== undefined && `${formatCount(outputTokens)} out${suffix(reasoningTokens, 'reasoning')}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Formats US dollars with at least two significant digits. */
export function formatCost(dollars: number): string {
  if (dollars === 0 || dollars >= 1) return `$${dollars.toFixed(2)}`;
  return `$${dollars.toFixed(Math.min(8, 1 - Math.floor(Math.log10(dollars))))}`;
}

function suffix(count: number | undefined, name: string): string {
  return count === undefined || count === 0 ? '' : ` (${formatCount(count)} ${name})`;
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}
