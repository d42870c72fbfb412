import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createRunHost, type Agent } from '@intertie/agent';
import { canonical, check } from '@intertie/conformance';
import { iterate, type AgentEvent, type CanonicalMessage } from '@intertie/core';
import { coalesce, createResumePoint } from '@intertie/core/internal';
import { createStore } from '@intertie/postgres';
import { expect, onTestFinished } from 'vitest';
import { createAgents, hostOptions, type Peers } from './source-agents.mjs';

const program = fileURLToPath(new URL('source-process.mjs', import.meta.url));

export interface KillTarget {
  /** URL of a Postgres server, or a folder. */
  target: string;
  leaseMs: number;
  peers: Peers;
}

/** Starts the runtimes behind the sources in a thread, so that a busy store of this one does not stall their connections. */
export async function startPeers(): Promise<Peers> {
  const worker = new Worker(new URL('source-peers.mjs', import.meta.url), { execArgv: [] });
  onTestFinished(async () => void (await worker.terminate()));
  const [peers] = (await once(worker, 'message')) as [Peers];
  return peers;
}

/** Events and message of a run, comparable with those of another run of the same agent. */
type Result = { events: unknown[]; message: unknown };

/** A process that continues the runs of killed ones, and whose readers follow them. */
export interface Survivor {
  agents: { [name: string]: Agent };
  close(): Promise<void>;
}

export async function openSurvivor({ target, leaseMs, peers }: KillTarget): Promise<Survivor> {
  const store = await createStore({ ...(target.includes('://') ? { url: target } : { folder: target }), leaseMs });
  const host = createRunHost(store, { process: 'survivor', ...hostOptions });
  const agents = createAgents(store, host, peers);
  await host.open();
  return {
    agents,
    async close() {
      await host.close();
      await store.close();
    },
  };
}

/** Runs every agent to the end without a kill. */
export async function runUndisturbed(survivor: Survivor): Promise<Map<string, Result>> {
  const results = Object.entries(survivor.agents).map(async ([name, agent]): Promise<[string, Result]> => {
    const threadId = `undisturbed-${name}`;
    await agent.stream({ threadId, message: 'A poem about tea' });
    return [name, (await readRun(survivor, name, threadId))!];
  });
  return new Map(await Promise.all(results));
}

/** Follows the run of a thread to its end. Returns undefined if the process was killed before the run existed. */
export async function readRun(
  { agents }: Survivor,
  name: string,
  threadId: string,
  onEvents: (events: readonly AgentEvent[]) => void = () => undefined,
): Promise<Result | undefined> {
  const agent = agents[name]!;
  const run = await agent.latest({ threadId });
  if (!run) return undefined;
  const events: AgentEvent[] = [];
  let last = 0;
  for await (const item of iterate(run.follow())) {
    if (item.type !== 'events') throw new Error(`A reader of ${threadId} got ${item.type}.`);
    // Every event arrives once and in order.
    expect(item.position.seq - item.events.length, threadId).toBe(last);
    last = item.position.seq;
    events.push(...item.events);
    onEvents(item.events);
  }
  expect(check(canonical, events).violations, threadId).toEqual([]);
  const end = events.at(-1)!;
  const why = `${threadId}: ${'error' in end ? JSON.stringify(end.error) : ''}`;
  expect(end, why).toMatchObject({ type: 'run-end', outcome: 'complete' });
  const stored = (await agent.history({ threadId })).messages.at(-1) as CanonicalMessage;
  expect(stored.status, threadId).toBe('complete');
  const empty: CanonicalMessage = { ...stored, content: { format: 2, parts: [] } };
  const folded = createResumePoint(empty, events).message.content.parts;
  expect(normalize(folded, run.runId), threadId).toEqual(normalize(stored.content.parts, run.runId));
  return {
    events: normalize(toComparable(events), run.runId) as unknown[],
    message: normalize(stored.content, run.runId),
  };
}

/** Removes the events of takeovers, and merges deltas: how they are split depends on the time of flushes. */
function toComparable(events: readonly AgentEvent[]): AgentEvent[] {
  const merged: AgentEvent[] = [];
  const codec = coalesce({ maxBytes: Infinity });
  for (const event of events) {
    if (event.type === 'checkpoint' || (event.type === 'notice' && event.code === 'recovered')) continue;
    codec.feed(event, (out) => merged.push(out));
  }
  codec.end({ reason: 'eof' }, (out) => merged.push(out));
  return merged;
}

/** Replaces ids and times, which differ between two runs. */
function normalize(value: unknown, runId: string): unknown {
  const text = JSON.stringify(value, (key, field: unknown) => (times.has(key) ? undefined : field));
  return JSON.parse(
    text
      .replaceAll(runId, 'RUN')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME')
      .replaceAll(/undisturbed-\w+|p\d+-\d+-\w+/g, 'THREAD'),
  );
}

const times: ReadonlySet<string> = new Set(['at', 'startedAt', 'endedAt', 'createdAt', 'updatedAt', 'lastFrameKey']);

/** Names of the threads of a process with a number of runs per agent. */
export function listThreads(name: string, runs: number): Array<{ agent: string; threadId: string }> {
  return Array.from({ length: runs }, (_, run) => run).flatMap((run) =>
    agentNames.map((agent) => ({ agent, threadId: `${name}-${run}-${agent}` })),
  );
}

/** Starts a process that runs the agents. Kills it at a random moment while it starts or executes the runs. */
export async function runAndKill(
  { target, leaseMs, peers }: KillTarget,
  { name, runs }: { name: string; runs: number },
  onStarted: (threadId: string) => void = () => undefined,
): Promise<void> {
  const args = [program, target, name, String(leaseMs), JSON.stringify(peers), String(runs), ...agentNames];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const gone = once(child, 'exit').then(() => 'gone');
  // Most runs of a process are killed before their first commit if it is killed while it starts them.
  const isEarly = Math.random() < 0.2;
  const isReached = new Promise<string>((resolve) => {
    let started = 0;
    createInterface(child.stdout).on('line', (line) => {
      if (line !== 'ready') onStarted(line);
      started += line === 'ready' ? 0 : 1;
      if (isEarly || started === runs * agentNames.length) resolve('running');
    });
  });
  expect(await Promise.race([isReached, gone]), `${name} before its kill`).toBe('running');
  await sleep(Math.random() * (isEarly ? 200 : 600 / runs));
  child.kill('SIGKILL');
  await gone;
}

export const agentNames = ['mail', 'openHarness', 'agUi', 'tape'] as const;

/** Runs that a process had started before its kill. `pauses`: times in ms from the kill to the next event of each continued run. */
export type KillFigures = { runs: number; pauses: Array<{ agent: string; ms: number }> };

/** Kills one process at a random moment of its runs, and reads the runs that the survivor continues. */
export async function killOnce(
  target: KillTarget,
  survivor: Survivor,
  undisturbed: ReadonlyMap<string, Result>,
  process: { name: string; runs: number },
): Promise<KillFigures> {
  const figures: KillFigures = { runs: 0, pauses: [] };
  let killedAt = Infinity;
  const readers = new Map<string, Promise<void>>();
  const read = async (agent: string, threadId: string): Promise<void> => {
    const result = await readRun(survivor, agent, threadId, (events) => {
      const isNext = events.some((event) => event.type === 'notice' && event.code === 'recovered');
      if (isNext && killedAt !== Infinity) figures.pauses.push({ agent, ms: performance.now() - killedAt });
    });
    // The process can be killed before it has started a run.
    if (!result) return;
    expect(result, threadId).toEqual(undisturbed.get(agent));
    figures.runs += 1;
  };
  const onStarted = (threadId: string): void => {
    const reader = read(threadId.split('-')[2]!, threadId);
    reader.catch(() => undefined);
    readers.set(threadId, reader);
  };
  await runAndKill(target, process, onStarted);
  killedAt = performance.now();
  await Promise.all(
    listThreads(process.name, process.runs).map(
      ({ agent, threadId }) => readers.get(threadId) ?? read(agent, threadId),
    ),
  );
  return figures;
}

/** Formats the number of runs, and the times from a kill to the next event of a run. */
export function formatFigures(all: readonly KillFigures[]): string {
  const runs = all.reduce((sum, figures) => sum + figures.runs, 0);
  const pauses = all.flatMap((figures) => figures.pauses);
  const sorted = pauses.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const counts = agentNames.map((name) => `${name} ${pauses.filter(({ agent }) => agent === name).length}`).join(', ');
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  const pause = `median ${at(0.5)} ms, p95 ${at(0.95)} ms, maximum ${at(1)} ms`;
  return `${all.length} kills: ${runs} runs complete, ${sorted.length} of them continued (${counts}); from kill to next event: ${pause}`;
}
