import type { MessageContent, Store, Usage } from '@intertie/core';

/** What was consumed, or `unknown` where nobody has said. */
export type KnownUsage = Usage | 'unknown';

export type UsageReport = {
  /** Of all runs that have said. */
  total: KnownUsage;
  /** Of the runs of each agent, with all that worked inside them. */
  agents: { [name: string]: KnownUsage };
  /** Of those who worked inside the runs, by name, as they or their turns have said. It is a part of the above. */
  inside: { [name: string]: KnownUsage };
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

const pageSize = 200;

export async function readUsage(store: Store, threadId: string): Promise<UsageReport> {
  const records = await store.registry.listRuns(store.scope, { threadId });
  const runs = records.map(({ runId, agent, usage }) => ({ runId, agent, usage: sum(usage ?? []) }));
  return {
    total: sum(runs.map(({ usage }) => usage)),
    agents: sumByName(runs.map(({ agent, usage }) => [agent, usage])),
    inside: sumByName(await readInside(store, threadId)),
    runs,
  };
}

/** Every agent inside every message of the thread, on whatever branch. */
async function readInside(store: Store, threadId: string): Promise<Array<[name: string, KnownUsage]>> {
  const all: Array<[string, KnownUsage]> = [];
  for (let since = 0, isMore = true; isMore;) {
    const changes = await store.listChanges({ threadId, since, limit: pageSize });
    for (const change of changes) if (change.type === 'message') all.push(...insideOf(change.message.content));
    since = changes.at(-1)?.version ?? since;
    isMore = changes.length >= pageSize;
  }
  return all;
}

function insideOf({ agents = {}, steps = {} }: MessageContent): Array<[string, KnownUsage]> {
  return Object.entries(agents).map(([agentId, { name, usage }]) => {
    const turns = Object.values(steps).flatMap((step) => (step.agentId === agentId ? (step.usage ?? []) : []));
    return [name, sum(usage ?? turns)];
  });
}

function sumByName(all: ReadonlyArray<[name: string, KnownUsage]>): { [name: string]: KnownUsage } {
  const names = new Set(all.map(([name]) => name));
  return Object.fromEntries(
    [...names].map((name) => [name, sum(all.flatMap(([other, usage]) => (other === name ? [usage] : [])))]),
  );
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
