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
import { asProcess, getEvents, readAll, readLog, type TestProcess } from './processes.ts';

const program = fileURLToPath(new URL('writer-process.mjs', import.meta.url));
const threads = ['thread_1', 'thread_2', 'thread_3', 'thread_4'];

/** A run as reported by the killed process. */
type ReportedRun = { threadId: string; messageId: string; writtenAt: number[]; durable: number; isEnded: boolean };

type KillFigures = {
  /** Number of interrupted and of complete runs. */
  lost: number;
  complete: number;
  words: number;
  /** For each interrupted run, the time between its first and its last lost word, in milliseconds. */
  missingMs: number[];
};

type Killing = {
  /** URL or folder that the writer opens. */
  target: string;
  /** Reader that follows the writer, if two processes can share the database. */
  reader?: TestProcess;
  /** Opens the store after the kill; only one process at a time can open a folder. */
  open: () => Promise<Store>;
};

/** Kills writers one after the other and returns a summary. */
export async function killWriters(count: number, killing: Killing): Promise<string> {
  const figures: KillFigures[] = [];
  for (let n = 0; n < count; n++) figures.push(await killWriter(killing, `writer_${n}`));
  return report(figures);
}

/** Prepares a shared server, or a folder that one process can open at a time. */
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
 * Starts a process that writes runs, kills it at a random time, and recovers its runs. No event that it reported as durable may
 * be lost, every run ends, readers have received the complete log, and the threads are free.
 */
async function killWriter({ target, reader, open }: Killing, name: string): Promise<KillFigures> {
  const writer = spawn(process.execPath, [program, target, name, threads.join(',')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reported = new Map<RunKey, ReportedRun>();
  const reading = new Map<RunKey, Promise<AgentEvent[]>>();
  let rest = '';
  /** Number of lines before the kill: between the first word and the end of the second runs. */
  let left = Math.random() * 600;
  let markReached = (): void => {};
  const reached = new Promise<void>((resolve) => void (markReached = resolve));
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    // The kill may have cut the last line, which is ignored then.
    rest = lines.pop()!;
    for (const line of lines) {
      if (left-- <= 0) markReached();
      const key = readLine(reported, line);
      if (key && reader && !reading.has(key)) reading.set(key, readAll(reader.follow(key)).then(getEvents));
    }
  });
  const closed = new Promise((resolve) => writer.on('close', resolve));
  await Promise.race([reached, closed]);
  await sleep(Math.random() * 20);
  expect(writer.exitCode, 'the writer ended before the kill').toBeNull();
  writer.kill('SIGKILL');
  await closed;

  const store = await open();
  const sweeper = createSweeper({
    store,
    process: `sweeper of ${name}`,
    onError: (error) => expect.unreachable(String(error)),
  });
  // The server may still execute statements that were sent before the kill; the next sweep succeeds.
  await vi.waitFor(
    async () => {
      await store.registry.retire(name);
      await sweeper.sweep();
      for (const threadId of threads) expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
    },
    { timeout: 30_000 },
  );
  const figures: KillFigures = { lost: 0, complete: 0, words: 0, missingMs: [] };
  for (const [key, each] of reported) await check(store, key, each, figures, reading.get(key));
  if (!reader) await store.close();
  return figures;
}

/** Reads a line of the writer. Returns the key of a run that was started. */
function readLine(reported: Map<RunKey, ReportedRun>, line: string): RunKey | undefined {
  const [what, key, first, second] = line.split(' ') as [string, RunKey, string, string];
  if (what === 's') {
    reported.set(key, { threadId: first, messageId: second, writtenAt: [], durable: -1, isEnded: false });
  }
  const run = reported.get(key);
  if (!run) return undefined;
  if (what === 'w') run.writtenAt[Number(first)] = Number(second);
  if (what === 'a') run.durable = Math.max(run.durable, Number(first));
  if (what === 'e') run.isEnded = true;
  return what === 's' ? key : undefined;
}

async function check(
  store: Store,
  key: RunKey,
  { threadId, messageId, writtenAt, durable, isEnded }: ReportedRun,
  figures: KillFigures,
  reading: Promise<AgentEvent[]> | undefined,
): Promise<void> {
  const events = await readLog(store, key);
  const text = events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
  const kept = text.split(' ').length - 1;
  expect(text).toBe(Array.from({ length: kept }, (_, n) => `${n} `).join(''));
  expect(kept, 'words that were reported as durable').toBeGreaterThan(durable);
  expect(events.filter(({ type }) => type === 'run-start')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'run-end')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'run-end' });
  const record = await store.registry.getRun(store.scope, key);
  const message = await store.getMessage({ threadId, messageId });
  expect(record).toMatchObject({ state: isEnded ? 'complete' : expect.stringMatching(/complete|error/) });
  expect(message).toMatchObject({ status: record!.state });
  expect(readText(message!)).toBe(text);
  if (reading) expect(await reading).toEqual(events);

  figures.words += kept;
  if (record!.state === 'complete') figures.complete += 1;
  else figures.lost += 1;
  const last = writtenAt.at(-1);
  const firstMissing = writtenAt[kept];
  if (record!.state === 'error') figures.missingMs.push(firstMissing === undefined ? 0 : last! - firstMissing);
}

function readText(message: CanonicalMessage): string {
  return message.content.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function report(all: readonly KillFigures[]): string {
  const sum = (pick: (figures: KillFigures) => number): number => all.reduce((total, each) => total + pick(each), 0);
  const missing = all.flatMap(({ missingMs }) => missingMs).toSorted((a, b) => a - b);
  const at = (share: number): string => (missing[Math.floor(share * (missing.length - 1))] ?? 0).toFixed(0);
  const runs = `${sum(({ complete }) => complete)} runs complete and ${sum(({ lost }) => lost)} lost`;
  const text = `text missing at the kill: median ${at(0.5)} ms, at most ${at(1)} ms`;
  return `${all.length} kills: ${runs}, ${sum(({ words }) => words)} words stored, no durable word lost; ${text}`;
}
