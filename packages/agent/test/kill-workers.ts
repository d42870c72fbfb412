import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { modelMessages } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import type { CanonicalMessage, Store } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { expect, onTestFinished, vi } from 'vitest';

import { fillFolder, newPostgresUrl } from '../../postgres/test/databases.ts';
import { createWorker } from './worker.mjs';

const program = fileURLToPath(new URL('worker-process.mjs', import.meta.url));

type Said = { tools: string[]; words: Map<string, number[]>; ended: number };
type Figures = { ended: number; lost: number; answered: number; tools: number; missingMs: number[] };
export type Killing = {
  target: string;
  open: () => Promise<Store>;
  atOnce: number;
  /** What is run and killed; the worker on a store of `createStore(target)` unless given. */
  worker?: string;
};

/** A server that all can reach, or a folder that one process can open at a time. */
export async function killingOn(on: 'PGlite' | 'Postgres'): Promise<Killing> {
  if (on === 'Postgres') {
    const target = await newPostgresUrl();
    return { target, open: () => createStore(target), atOnce: 3 };
  }
  const target = mkdtempSync(join(tmpdir(), 'intertie-agent-kills-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  await fillFolder(target);
  return { target, open: () => createStore(target), atOnce: 1 };
}

/** Kills so many processes that run an agent, and says what came of it. */
export async function killWorkers(count: number, killing: Killing): Promise<string> {
  const all: Figures[] = [];
  for (let n = 0; n < count; n += killing.atOnce) {
    const names = Array.from({ length: Math.min(killing.atOnce, count - n) }, (_, index) => `worker_${n + index}`);
    all.push(...(await Promise.all(names.map((name) => killWorker(killing, name)))));
  }
  return report(all);
}

/**
 * Runs an agent in a process of its own, kills it at a random moment, and goes on in this one. Every thread loads, what was
 * asked can be answered, the next turn is one that providers take, and no tool has run twice.
 */
async function killWorker({ target, open, worker = program }: Killing, name: string): Promise<Figures> {
  const threads = ['a', 'b'].map((thread) => `${name}_${thread}`);
  const said = await runAndKill([worker, target, name, threads.join(',')]);
  const store = await open();
  const tools: string[] = [];
  const { agent, host } = createWorker(store, {
    process: `after ${name}`,
    onTool: (id) => tools.push(id),
    sweepMs: 50,
  });
  await host.open();
  // A server goes on with what it was sent before the kill: a heartbeat, a start. The next pass finds it.
  await vi.waitFor(
    async () => {
      await store.registry.retire(name);
      for (const threadId of threads) expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
    },
    { timeout: 30_000, interval: 50 },
  );
  const figures: Figures = { ended: said.ended, lost: 0, answered: 0, tools: 0, missingMs: [] };
  for (const threadId of threads) {
    const decisions = await store.registry.listDecisions(store.scope, { threadId, state: 'open' });
    const runs = new Set(decisions.map(({ runId }) => runId));
    for (const runId of runs) {
      const answers = decisions
        .filter((decision) => decision.runId === runId)
        .map(({ id: questionId }) => ({ questionId, approved: true }));
      const { run } = await agent.answer({ runId, threadId }, answers);
      const message = await (await agent.attach(run!.runId, { threadId }))!.message;
      expect(message.status).toBe('complete');
      expect(message.content.parts.filter(isUnsettled)).toEqual([]);
      figures.answered += 1;
    }
    const last = (await agent.history({ threadId })).messages.at(-1);
    if (last) measureMissing(last, said.words.get(threadId) ?? [], figures);
    const next = await agent.generate({ threadId, message: 'words 2' });
    expect(next.message.status).toBe('complete');
    const leafId = next.message.parentId!;
    const { messages } = await agent.history({ threadId, leafId, format: 'model' });
    expect(check(modelMessages, messages).violations).toEqual([]);
    const records = await store.registry.listRuns(store.scope, { threadId });
    for (const record of records)
      expect(record).toMatchObject({ state: expect.stringMatching(/complete|paused|error/) });
    figures.lost += records.filter(({ outcome }) => outcome?.outcome === 'error').length;
  }
  const ran = [...said.tools, ...tools];
  expect(new Set(ran).size, 'no tool ran twice').toBe(ran.length);
  figures.tools = ran.length;
  await host.close();
  await store.close();
  return figures;
}

async function runAndKill(args: readonly string[]): Promise<Said> {
  const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const said: Said = { tools: [], words: new Map(), ended: 0 };
  /** The kill comes when it has said so much: anywhere from its first words to a few runs later. */
  let left = Math.random() * 120;
  let rest = '';
  let spoken = (): void => {};
  const hasSpoken = new Promise<void>((resolve) => void (spoken = resolve));
  worker.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    // The last line may have been cut by the kill: what was not said whole was not said.
    rest = lines.pop()!;
    for (const line of lines) {
      hear(said, line);
      if (left-- <= 0) spoken();
    }
  });
  const gone = new Promise((resolve) => worker.on('close', resolve));
  await Promise.race([hasSpoken, gone]);
  await sleep(Math.random() * 30);
  expect(worker.exitCode, 'the worker ended by itself').toBeNull();
  worker.kill('SIGKILL');
  await gone;
  return said;
}

function hear(said: Said, line: string): void {
  const [what, first = '', , at] = line.split(' ');
  if (what === 'b') said.words.set(first, []);
  if (what === 't') said.tools.push(first);
  if (what === 'e') said.ended += 1;
  if (what === 'w') said.words.get(first)?.push(Number(at));
}

function isUnsettled(part: CanonicalMessage['content']['parts'][number]): boolean {
  return part.type === 'tool-invocation' && (part.state === 'call' || part.state === 'partial-call');
}

/** Of a run that was cut in the middle of its words: the time from the first one that is gone to the last. */
function measureMissing({ status, content }: CanonicalMessage, writtenAt: readonly number[], figures: Figures): void {
  const text = content.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const isTold = content.parts.some(({ type }) => type === 'tool-invocation');
  if (status !== 'error' || isTold || writtenAt.length === 0) return;
  const kept = text.split(' ').length - 1;
  expect(text).toBe(Array.from({ length: kept }, (_, n) => `${n} `).join(''));
  const first = writtenAt[kept];
  figures.missingMs.push(first === undefined ? 0 : writtenAt.at(-1)! - first);
}

function report(all: readonly Figures[]): string {
  const sum = (pick: (figures: Figures) => number): number => all.reduce((total, each) => total + pick(each), 0);
  const missing = all.flatMap(({ missingMs }) => missingMs).toSorted((a, b) => a - b);
  const at = (share: number): string => (missing[Math.floor(share * (missing.length - 1))] ?? 0).toFixed(0);
  const runs = `${sum(({ ended }) => ended)} runs ended before, ${sum(({ lost }) => lost)} lost, ${sum(({ answered }) => answered)} answered after`;
  const ran = `${sum(({ tools }) => tools)} tools ran, none twice`;
  return `${all.length} kills: ${runs}; ${ran}; text missing: median ${at(0.5)} ms, at most ${at(1)} ms`;
}
