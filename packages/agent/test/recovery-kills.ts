import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { canonical, check } from '@intertie/conformance';
import { iterate, type AgentEvent, type CanonicalMessage, type MessagePart, type Store } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { expect, onTestFinished } from 'vitest';

import { fillFolder, newPostgresUrl } from '../../postgres/test/databases.ts';
import type { Agent } from '../src/index.ts';
import { createRecoveringAgent, idempotent } from './recovering-agent.mjs';

/** Events of a run, without those at its end. */
const eventsPerRun = 45;
const program = fileURLToPath(new URL('recovering-process.mjs', import.meta.url));

export type RecoveryKills = {
  kills: number;
  /** Runs of each process. */
  runs: number;
  /** Number of processes at a time. */
  concurrency: number;
  /** Lease of the processes. 0: the lease of a killed process is ended at once, to save time. */
  leaseMs: number;
};

type Figures = { runs: number; resumed: number; discarded: number; interrupted: number; again: number; gaps: number[] };

/** Kills processes at random moments of their runs, and continues the runs in this process on the same Postgres server. */
export async function killOnPostgres(options: RecoveryKills): Promise<string> {
  const target = await newPostgresUrl();
  const store = await createStore({ url: target, ...(options.leaseMs > 0 && { leaseMs: options.leaseMs }) });
  const file = createToolFile();
  const sweep = options.leaseMs > 0 ? {} : { sweepMs: 20 };
  const own = createRecoveringAgent(store, { process: 'reader', onTool: (call) => append(file, call), ...sweep });
  onTestFinished(async () => {
    await own.host.close();
    await store.close();
  });
  await own.host.open();
  const expected = await createExpected(own.agent);
  const all: Figures[] = [];
  for (let n = 0; n < options.kills; n += options.concurrency) {
    const count = Math.min(options.concurrency, options.kills - n);
    const cycle = async (index: number): Promise<Figures> => {
      const name = `p${n + index}`;
      const threads = Array.from({ length: options.runs }, (_, run) => `${name}_${run}`);
      const child = await startProcess([target, name, String(options.leaseMs), file, threads.join(',')]);
      const reading = threads.map((threadId) => readEvents(own.agent, threadId));
      const killedAt = await killAtRandom(child, options.runs);
      if (options.leaseMs === 0) await store.registry.retire(name);
      const logs = await Promise.all(reading);
      return verify(own.agent, { threads, logs, killedAt, file, expected });
    };
    all.push(...(await Promise.all(Array.from({ length: count }, (_, index) => cycle(index)))));
  }
  return report(all);
}

/** Kills the only process of a PGlite folder, and continues its runs in a new process, this one, on the same folder. */
export async function killOnPglite({ kills, runs }: Pick<RecoveryKills, 'kills' | 'runs'>): Promise<string> {
  const target = mkdtempSync(join(tmpdir(), 'intertie-recovery-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  await fillFolder(target);
  const file = createToolFile();
  let expected: MessagePart[] | undefined;
  const all: Figures[] = [];
  for (let n = 0; n < kills; n++) {
    const name = `p${n}`;
    const threads = Array.from({ length: runs }, (_, run) => `${name}_${run}`);
    const child = await startProcess([target, name, '0', file, threads.join(',')]);
    const killedAt = await killAtRandom(child, runs);
    const store: Store = await createStore({ folder: target });
    const { agent, host } = createRecoveringAgent(store, {
      process: `after ${name}`,
      onTool: (call) => append(file, call),
      sweepMs: 20,
    });
    await store.registry.retire(name);
    await host.open();
    const logs = await Promise.all(threads.map((threadId) => readEvents(agent, threadId)));
    expected ??= await createExpected(agent);
    all.push(await verify(agent, { threads, logs, killedAt, file, expected }));
    await host.close();
    await store.close();
  }
  return report(all);
}

/** Parts of the message of a run that nothing disturbs. */
async function createExpected(agent: Agent): Promise<MessagePart[]> {
  const { message } = await agent.generate({ threadId: 'undisturbed', message: 'undisturbed' });
  expect(message.status).toBe('complete');
  return message.content.parts;
}

type Killed = {
  threads: string[];
  logs: Array<{ events: AgentEvent[]; times: number[] }>;
  killedAt: number;
  file: string;
  expected: readonly MessagePart[];
};

async function verify(agent: Agent, { threads, logs, killedAt, file, expected }: Killed): Promise<Figures> {
  const figures: Figures = { runs: threads.length, resumed: 0, discarded: 0, interrupted: 0, again: 0, gaps: [] };
  const executed = readFileSync(file, 'utf8').split('\n');
  for (const [index, threadId] of threads.entries()) {
    const { events, times } = logs[index]!;
    expect(check(canonical, events).violations, threadId).toEqual([]);
    expect(events.at(-1), `${threadId} ${JSON.stringify(events.at(-1))}`).toMatchObject({
      type: 'run-end',
      outcome: 'complete',
    });
    const message = (await agent.history({ threadId })).messages.at(-1)!;
    expect(message, threadId).toMatchObject({ status: 'complete' });
    const interrupted = checkParts(message, threadId, expected);
    const calls = executed.filter((call) => call.startsWith(`${threadId}-`));
    for (const call of new Set(calls)) {
      const count = calls.filter((other) => other === call).length;
      const isIdempotent = idempotent.some((name) => call.endsWith(`-${name}`));
      expect(isIdempotent ? 1 : count, `executions of ${call}`).toBe(1);
      figures.again += count - 1;
    }
    figures.interrupted += interrupted;
    figures.discarded += events.filter((event) => event.type === 'step-end' && event.discarded).length;
    const isResumed = events.some((event) => event.type === 'notice' && event.code === 'recovered');
    if (!isResumed) continue;
    figures.resumed += 1;
    const next = times.find((time, at) => time > killedAt && hasRecovered(events, at));
    if (next !== undefined) figures.gaps.push(next - killedAt);
  }
  return figures;
}

function hasRecovered(events: readonly AgentEvent[], index: number): boolean {
  const event = events[index];
  return event?.type === 'notice' && event.code === 'recovered';
}

type Shown = { name: string; value: unknown; isInterrupted: boolean };

/**
 * Compares a message with that of an undisturbed run. The step that the kill cut off may lack its last calls, and a call in it can be
 * interrupted; everything else is equal. Returns the number of interrupted calls.
 */
function checkParts({ content }: CanonicalMessage, threadId: string, expected: readonly MessagePart[]): number {
  const actual = content.parts.flatMap((part) => showPart(part, threadId));
  const whole = expected.flatMap((part) => showPart(part, 'undisturbed'));
  let at = 0;
  for (const { name, value, isInterrupted } of actual) {
    const found = whole.findIndex((part, index) => index >= at && part.name === name);
    expect(found, `${threadId}: ${name}`).toBeGreaterThanOrEqual(at);
    expect(whole.slice(at, found).filter((part) => part.name === 'text')).toEqual([]);
    if (isInterrupted) expect(idempotent).not.toContain(name);
    else expect(value, `${threadId}: ${name}`).toEqual(whole[found]!.value);
    at = found + 1;
  }
  // The last text is always there, so calls can only be missing before it.
  expect(at, threadId).toBe(whole.length);
  return actual.filter(({ isInterrupted }) => isInterrupted).length;
}

function showPart(part: MessagePart, threadId: string): Shown[] {
  if (part.type === 'text') return [{ name: 'text', value: part.text, isInterrupted: false }];
  // An input that was cut off was not executed.
  if (part.type !== 'tool-invocation' || part.error?.code === 'cut-off') return [];
  // The id of the model: a call that is generated again gets a new one of ours.
  const wireId = part.providerMetadata?.['ai-sdk']?.toolCallId ?? part.toolCallId;
  expect(wireId).toBe(`${threadId}-${part.toolName}`);
  const isInterrupted = part.state === 'error' && part.error?.code === 'interrupted';
  return [{ name: part.toolName, value: [part.state, part.args, part.result], isInterrupted }];
}

async function startProcess(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = new Promise((_, reject) => child.once('exit', () => reject(new Error('The process exited.'))));
  exited.catch(() => undefined);
  await Promise.race([new Promise((resolve) => void child.stdout.once('data', resolve)), exited]);
  return child;
}

/** Kills a process after a random number of events, or when its runs have ended: a busy machine joins deltas. Returns the time. */
async function killAtRandom(child: ChildProcess, runs: number): Promise<number> {
  let left = Math.random() * runs * eventsPerRun;
  await new Promise<void>((resolve) => {
    child.stdout!.on('data', (dots: Buffer) => {
      left -= dots.length;
      if (left <= 0 || dots.includes('\n')) resolve();
    });
  });
  const exited = new Promise((resolve) => void child.once('exit', resolve));
  child.kill('SIGKILL');
  const at = performance.now();
  await exited;
  return at;
}

/** Reads a run to its end, and checks that every event arrives once and in order. */
async function readEvents(agent: Agent, threadId: string): Promise<{ events: AgentEvent[]; times: number[] }> {
  const run = await agent.latest({ threadId });
  const events: AgentEvent[] = [];
  const times: number[] = [];
  let last = 0;
  for await (const item of iterate(run!.follow())) {
    if (item.type !== 'events') throw new Error(`A reader got ${item.type}.`);
    expect(item.position.seq - item.events.length).toBe(last);
    last = item.position.seq;
    for (const event of item.events) {
      events.push(event);
      times.push(performance.now());
    }
  }
  return { events, times };
}

function createToolFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-tools-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'tools'), '');
  return join(folder, 'tools');
}

function append(file: string, call: string): void {
  writeFileSync(file, `${call}\n`, { flag: 'a' });
}

function report(all: readonly Figures[]): string {
  const sum = (pick: (figures: Figures) => number): number => all.reduce((total, each) => total + pick(each), 0);
  const gaps = all.flatMap((figures) => figures.gaps).toSorted((a, b) => a - b);
  const at = (share: number): string => `${Math.round(gaps[Math.floor(share * (gaps.length - 1))] ?? 0)} ms`;
  const runs = `${sum((figures) => figures.runs)} runs complete, ${sum(({ resumed }) => resumed)} of them resumed`;
  const calls = `${sum(({ interrupted }) => interrupted)} calls interrupted, ${sum(({ again }) => again)} idempotent calls run again`;
  const steps = `${sum(({ discarded }) => discarded)} steps discarded`;
  return `${all.length} kills: ${runs}; ${steps}, ${calls}; time from kill to the next event: median ${at(0.5)}, maximum ${at(1)}`;
}
