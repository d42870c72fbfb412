import type { Usage } from './usage.ts';

/** Sums usage by model. A counter that was never reported stays undefined, not zero. */
export function sumUsage(all: readonly Usage[]): Usage[] {
  const byModel = new Map<string, Usage>();
  for (const { provider, model, raw: _, ...counts } of all) {
    const key = JSON.stringify([provider, model]);
    const sum = byModel.get(key) ?? {
      ...(provider !== undefined && { provider }),
      ...(model !== undefined && { model }),
    };
    for (const [name, count] of Object.entries(counts) as Array<[keyof typeof counts, number]>) {
      sum[name] = (sum[name] ?? 0) + count;
    }
    byModel.set(key, sum);
  }
  return [...byModel.values()];
}
