import type { MessageContent, Store, Usage } from '@intertie/core';

/** Reported usage, or `unknown` if none was reported. */
export type KnownUsage = Usage | 'unknown';

/** Token usage of a thread. */
export type UsageReport = {
  /** Sum of all runs that reported usage. */
  total: KnownUsage;
  /** Sum by the agent of the run, including the agents inside the run. */
  agents: { [name: string]: KnownUsage };
  /** Sum by the name of the agents inside runs, as they or their steps reported it. It is part of `agents`. */
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
    inside: sumByName(await readInnerAgents(store, threadId)),
    runs,
  };
}

/** Reads the usage of every agent inside every message of the thread, on all branches. */
async function readInnerAgents(store: Store, threadId: string): Promise<Array<[name: string, KnownUsage]>> {
  const all: Array<[string, KnownUsage]> = [];
  for (let since = 0, isMore = true; isMore;) {
    const changes = await store.listChanges({ threadId, since, limit: pageSize });
    for (const change of changes) if (change.type === 'message') all.push(...getInnerAgents(change.message.content));
    since = changes.at(-1)?.version ?? since;
    isMore = changes.length >= pageSize;
  }
  return all;
}

function getInnerAgents({ agents = {}, steps = {} }: MessageContent): Array<[string, KnownUsage]> {
  return Object.entries(agents).map(([agentId, { name, usage }]) => {
    const ofSteps = Object.values(steps).flatMap((step) => (step.agentId === agentId ? (step.usage ?? []) : []));
    return [name, sum(usage ?? ofSteps)];
  });
}

function sumByName(all: ReadonlyArray<[name: string, KnownUsage]>): { [name: string]: KnownUsage } {
  const names = new Set(all.map(([name]) => name));
  return Object.fromEntries(
    [...names].map((name) => [name, sum(all.flatMap(([other, usage]) => (other === name ? [usage] : [])))]),
  );
}

/** A counter that was never reported stays undefined, not zero. */
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
