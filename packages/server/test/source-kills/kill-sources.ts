import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRunHost, type Agent } from '@intertie/agent';
import { canonical, check } from '@intertie/conformance';
import { iterate, type AgentEvent, type CanonicalMessage } from '@intertie/core';
import { coalesce, createResumePoint } from '@intertie/core/internal';
import { createStore } from '@intertie/postgres';
import { expect } from 'vitest';
import { createAgents, hostOptions, type Peers } from './source-agents.mjs';

const program = fileURLToPath(new URL('source-process.mjs', import.meta.url));

export interface KillTarget {
  /** URL of a Postgres server, or a folder. */
  target: string;
  leaseMs: number;
  peers: Peers;
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
  onEvents: () => void = () => undefined,
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
    onEvents();
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
      .replaceAll(/undisturbed-\w+|p\d+-\w+/g, 'THREAD'),
  );
}

const times: ReadonlySet<string> = new Set(['at', 'startedAt', 'endedAt', 'createdAt', 'updatedAt', 'lastFrameKey']);

/** Starts a process that runs the agents. Kills it at a random moment while it starts or executes the runs. */
export async function runAndKill({ target, leaseMs, peers }: KillTarget, name: string): Promise<void> {
  const args = [program, target, name, String(leaseMs), JSON.stringify(peers), ...agentNames];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => void child.once('exit', resolve));
  // Most runs of a process are killed before their first commit if it is killed while it starts them.
  const moment = Math.random() < 0.2 ? 'ready' : 'started';
  const isReached = new Promise<string>((resolve) => {
    child.stdout.on('data', (text: Buffer) => void (text.toString().includes(moment) && resolve(moment)));
  });
  expect(await Promise.race([isReached, gone]), `${name} before its kill`).toBe(moment);
  await sleep(Math.random() * (moment === 'ready' ? 200 : 900));
  child.kill('SIGKILL');
  await gone;
}

export const agentNames = ['mail', 'openHarness', 'agUi', 'tape'] as const;

/** Kills one process at a random moment of its runs, and reads the runs that the survivor continues. Returns the pauses in ms. */
export async function killOnce(
  target: KillTarget,
  survivor: Survivor,
  undisturbed: ReadonlyMap<string, Result>,
  name: string,
): Promise<number[]> {
  const killed = { at: Infinity };
  const readers = agentNames.map(async (agent): Promise<number[]> => {
    const threadId = `${name}-${agent}`;
    while (killed.at === Infinity && !(await survivor.agents[agent]!.latest({ threadId }))) await sleep(100);
    let next: number | undefined;
    const onEvents = (): void => void (performance.now() > killed.at + 100 && (next ??= performance.now()));
    const result = await readRun(survivor, agent, threadId, onEvents);
    if (!result) return [];
    expect(result, threadId).toEqual(undisturbed.get(agent));
    return next === undefined ? [] : [next - killed.at];
  });
  await runAndKill(target, name);
  killed.at = performance.now();
  return (await Promise.all(readers)).flat();
}

/** Formats the times from a kill to the next event of a run. */
export function formatPauses(pauses: readonly number[]): string {
  const sorted = pauses.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
  return `${sorted.length} runs continued; from kill to next event: median ${at(0.5)} ms, p95 ${at(0.95)} ms, maximum ${at(1)} ms`;
}
