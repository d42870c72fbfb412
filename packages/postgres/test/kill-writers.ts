import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { AgentEvent, CanonicalMessage, Store } from '@intertie/core';
import { createSweeper } from '@intertie/core/internal';
import type { RunKey } from '@intertie/core/store';
import { expect, onTestFinished, vi } from 'vitest';

import { createStore } from '../src/create-store.ts';
import { fillFolder, newPostgresUrl } from './databases.ts';
import { asProcess, eventsOf, readAll, readLog, type TestProcess } from './processes.ts';

const program = fileURLToPath(new URL('writer-process.mjs', import.meta.url));
const threads = ['thread_1', 'thread_2', 'thread_3', 'thread_4'];

/** What the killed process has said of a run. */
type Said = { threadId: string; messageId: string; writtenAt: number[]; durable: number; isEnded: boolean };

type KillFigures = {
  /** Runs that were under way, and those that had ended. */
  lost: number;
  complete: number;
  words: number;
  /** Of each run under way, the time from its first word that is gone to its last, in milliseconds. */
  missingMs: number[];
};

type Killing = {
  /** What the writer opens. */
  target: string;
  /** Follows what the other writes, where two processes can share the database. */
  reader?: TestProcess;
  /** Opens the store after a kill, where there can be but one at a time. */
  open: () => Promise<Store>;
};

/** Kills so many writers, one after the other, and says what came of it. */
export async function killWriters(count: number, killing: Killing): Promise<string> {
  const figures: KillFigures[] = [];
  for (let n = 0; n < count; n++) figures.push(await killWriter(killing, `writer_${n}`));
  return report(figures);
}

/** A server that all can reach, or a folder that one process can open at a time. */
export async function killingOn(on: 'PGlite' | 'Postgres'): Promise<Killing> {
  if (on === 'Postgres') {
    const target = await newPostgresUrl();
    const reader = asProcess('reader', await createStore(target));
    return { target, reader, open: () => Promise.resolve(reader.store) };
  }
  const target = mkdtempSync(join(tmpdir(), 'intertie-kills-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  await fillFolder(target);
  return { target, open: () => createStore(target) };
}

/**
 * Starts a process that writes runs, kills it at a random moment, and recovers what it left. Nothing that it knew to be
 * durable may be gone, every run has an end, readers were given what the log has, and the threads are free again.
 */
async function killWriter({ target, reader, open }: Killing, name: string): Promise<KillFigures> {
  const writer = spawn(process.execPath, [program, target, name, threads.join(',')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = new Map<RunKey, Said>();
  const reading = new Map<RunKey, Promise<AgentEvent[]>>();
  let rest = '';
  /** The kill comes when it has said so much: anywhere between its first word and the end of its second runs. */
  let left = Math.random() * 600;
  let spoken = (): void => {};
  const hasSpoken = new Promise<void>((resolve) => void (spoken = resolve));
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    // The last line may have been cut by the kill: what was not said whole was not said.
    rest = lines.pop()!;
    for (const line of lines) {
      if (left-- <= 0) spoken();
      const key = hear(said, line);
      if (key && reader && !reading.has(key)) reading.set(key, readAll(reader.follow(key)).then(eventsOf));
    }
  });
  const gone = new Promise((resolve) => writer.on('close', resolve));
  await Promise.race([hasSpoken, gone]);
  await sleep(Math.random() * 20);
  expect(writer.exitCode, 'the writer ended by itself').toBeNull();
  writer.kill('SIGKILL');
  await gone;

  const store = await open();
  const sweeper = createSweeper({
    store,
    process: `sweeper of ${name}`,
    onError: (error) => expect.unreachable(String(error)),
  });
  // A server goes on with what it was sent before the kill: a heartbeat, a start. The next pass finds it.
  await vi.waitFor(
    async () => {
      await store.registry.retire(name);
      await sweeper.sweep();
      for (const threadId of threads) expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
    },
    { timeout: 30_000 },
  );
  const figures: KillFigures = { lost: 0, complete: 0, words: 0, missingMs: [] };
  for (const [key, each] of said) await check(store, key, each, figures, reading.get(key));
  if (!reader) await store.close();
  return figures;
}

/** The key of the run that was started, if that is what was said. */
function hear(said: Map<RunKey, Said>, line: string): RunKey | undefined {
  const [what, key, first, second] = line.split(' ') as [string, RunKey, string, string];
  if (what === 's') said.set(key, { threadId: first, messageId: second, writtenAt: [], durable: -1, isEnded: false });
  const run = said.get(key);
  if (!run) return undefined;
  if (what === 'w') run.writtenAt[Number(first)] = Number(second);
  if (what === 'a') run.durable = Math.max(run.durable, Number(first));
  if (what === 'e') run.isEnded = true;
  return what === 's' ? key : undefined;
}

async function check(
  store: Store,
  key: RunKey,
  { threadId, messageId, writtenAt, durable, isEnded }: Said,
  figures: KillFigures,
  reading: Promise<AgentEvent[]> | undefined,
): Promise<void> {
  const events = await readLog(store, key);
  const text = events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
  const kept = text.split(' ').length - 1;
  expect(text).toBe(Array.from({ length: kept }, (_, n) => `${n} `).join(''));
  expect(kept, 'words that were known to be durable').toBeGreaterThan(durable);
  expect(events.filter(({ type }) => type === 'run-start')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'run-end')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'run-end' });
  const record = await store.registry.getRun(store.scope, key);
  const message = await store.getMessage({ threadId, messageId });
  expect(record).toMatchObject({ state: isEnded ? 'complete' : expect.stringMatching(/complete|error/) });
  expect(message).toMatchObject({ status: record!.state });
  expect(textOf(message!)).toBe(text);
  if (reading) expect(await reading).toEqual(events);

  figures.words += kept;
  if (record!.state === 'complete') figures.complete += 1;
  else figures.lost += 1;
  const last = writtenAt.at(-1);
  const firstMissing = writtenAt[kept];
  if (record!.state === 'error') figures.missingMs.push(firstMissing === undefined ? 0 : last! - firstMissing);
}

function textOf(message: CanonicalMessage): string {
  return message.content.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function report(all: readonly KillFigures[]): string {
  const sum = (pick: (figures: KillFigures) => number): number => all.reduce((total, each) => total + pick(each), 0);
  const missing = all.flatMap(({ missingMs }) => missingMs).toSorted((a, b) => a - b);
  const at = (share: number): string => (missing[Math.floor(share * (missing.length - 1))] ?? 0).toFixed(0);
  const runs = `${sum(({ complete }) => complete)} runs complete and ${sum(({ lost }) => lost)} lost`;
  const text = `text missing at the kill: median ${at(0.5)} ms, at most ${at(1)} ms`;
  return `${all.length} kills: ${runs}, ${sum(({ words }) => words)} words kept, none acknowledged and gone; ${text}`;
}
