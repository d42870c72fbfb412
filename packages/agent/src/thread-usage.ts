import type { Store, Usage } from '@intertie/core';

/** What was consumed, or `unknown` where nobody has said. */
export type KnownUsage = Usage | 'unknown';

export type UsageReport = {
  /** Of all runs that have said. */
  total: KnownUsage;
  agents: { [name: string]: KnownUsage };
  runs: Array<{ runId: string; agent: string; usage: KnownUsage }>;
};

const counters = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'costUsd',
] as const satisfies ReadonlyArray<keyof Usage>;

export async function readUsage(store: Store, threadId: string): Promise<UsageReport> {
  const records = await store.registry.listRuns(store.scope, { threadId });
  const runs = records.map(({ runId, agent, usage }) => ({ runId, agent, usage: sum(usage ?? []) }));
  const names = [...new Set(runs.map(({ agent }) => agent))];
  return {
    total: sum(runs.map(({ usage }) => usage)),
    agents: Object.fromEntries(
      names.map((name) => [name, sum(runs.filter(({ agent }) => agent === name).map(({ usage }) => usage))]),
    ),
    runs,
  };
}

/** A counter that nobody has reported stays away: it is not zero. */
function sum(usages: readonly KnownUsage[]): KnownUsage {
  const known = usages.filter((usage) => usage !== 'unknown');
  if (known.length === 0) return 'unknown';
  const total: Usage = {};
  for (const usage of known) {
    for (const counter of counters) {
      const value = usage[counter];
      if (value !== undefined) total[counter] = (total[counter] ?? 0) + value;
    }
  }
  return total;
}
