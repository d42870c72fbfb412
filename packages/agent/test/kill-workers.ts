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

type WorkerOutput = { tools: string[]; deltas: Map<string, number[]>; ended: number };
type Figures = { ended: number; lost: number; answered: number; tools: number; missingMs: number[] };
export type KillTarget = {
  target: string;
  open: () => Promise<Store>;
  concurrency: number;
  /** Program that is killed. Default: the worker on a store of `createStore(target)`. */
  worker?: string;
};

/** Opens a Postgres server, which several processes can share, or a PGlite folder for one process at a time. */
export async function openKillTarget(on: 'PGlite' | 'Postgres'): Promise<KillTarget> {
  if (on === 'Postgres') {
    const target = await newPostgresUrl();
    return { target, open: () => createStore(target), concurrency: 3 };
  }
  const target = mkdtempSync(join(tmpdir(), 'intertie-agent-kills-'));
  onTestFinished(() => rmSync(target, { recursive: true, force: true }));
  await fillFolder(target);
  return { target, open: () => createStore(target), concurrency: 1 };
}

/** Kills `count` processes that run an agent, and returns a summary. */
export async function killWorkers(count: number, target: KillTarget): Promise<string> {
  const all: Figures[] = [];
  for (let n = 0; n < count; n += target.concurrency) {
    const names = Array.from({ length: Math.min(target.concurrency, count - n) }, (_, index) => `worker_${n + index}`);
    all.push(...(await Promise.all(names.map((name) => killWorker(target, name)))));
  }
  return report(all);
}

/**
 * Runs an agent in another process, kills it at a random moment, and continues in this one. Every thread loads, open questions
 * can be answered, the next history is valid for providers, and no tool has run twice.
 */
async function killWorker({ target, open, worker = program }: KillTarget, name: string): Promise<Figures> {
  const threads = ['a', 'b'].map((thread) => `${name}_${thread}`);
  const output = await runAndKill([worker, target, name, threads.join(',')]);
  const store = await open();
  const tools: string[] = [];
  const { agent, host } = createWorker(store, {
    process: `after ${name}`,
    onTool: (id) => tools.push(id),
    sweepMs: 50,
  });
  await host.open();
  // The server may still execute statements sent before the kill, such as a heartbeat or a start. The next sweep finds them.
  await vi.waitFor(
    async () => {
      await store.registry.retire(name);
      for (const threadId of threads) expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
    },
    { timeout: 30_000, interval: 50 },
  );
  const figures: Figures = { ended: output.ended, lost: 0, answered: 0, tools: 0, missingMs: [] };
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
    if (last) measureMissing(last, output.deltas.get(threadId) ?? [], figures);
    const next = await agent.generate({ threadId, message: 'text 2' });
    expect(next.message.status).toBe('complete');
    const leafId = next.message.parentId!;
    const { messages } = await agent.history({ threadId, leafId, format: 'model' });
    expect(check(modelMessages, messages).violations).toEqual([]);
    const records = await store.registry.listRuns(store.scope, { threadId });
    for (const record of records)
      expect(record).toMatchObject({ state: expect.stringMatching(/complete|paused|error/) });
    figures.lost += records.filter(({ outcome }) => outcome?.outcome === 'error').length;
  }
  const ran = [...output.tools, ...tools];
  expect(new Set(ran).size, 'no tool ran twice').toBe(ran.length);
  figures.tools = ran.length;
  await host.close();
  await store.close();
  return figures;
}

async function runAndKill(args: readonly string[]): Promise<WorkerOutput> {
  const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const output: WorkerOutput = { tools: [], deltas: new Map(), ended: 0 };
  /** Number of lines until the kill: between the first line and a few runs later. */
  let left = Math.random() * 120;
  let incomplete = '';
  let finish = (): void => {};
  const hasFinished = new Promise<void>((resolve) => void (finish = resolve));
  worker.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (incomplete + text).split('\n');
    // The kill may cut the last line, which is then ignored.
    incomplete = lines.pop()!;
    for (const line of lines) {
      readLine(output, line);
      if (left-- <= 0) finish();
    }
  });
  const gone = new Promise((resolve) => worker.on('close', resolve));
  await Promise.race([hasFinished, gone]);
  await sleep(Math.random() * 30);
  expect(worker.exitCode, 'the worker exited before the kill').toBeNull();
  worker.kill('SIGKILL');
  await gone;
  return output;
}

function readLine(output: WorkerOutput, line: string): void {
  const [what, first = '', , at] = line.split(' ');
  if (what === 'b') output.deltas.set(first, []);
  if (what === 't') output.tools.push(first);
  if (what === 'e') output.ended += 1;
  if (what === 'd') output.deltas.get(first)?.push(Number(at));
}

function isUnsettled(part: CanonicalMessage['content']['parts'][number]): boolean {
  return part.type === 'tool-invocation' && (part.state === 'call' || part.state === 'partial-call');
}

/** For a run that was killed while it emitted text: measures the time from the first missing delta to the last one. */
function measureMissing({ status, content }: CanonicalMessage, writtenAt: readonly number[], figures: Figures): void {
  const text = content.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const hasTools = content.parts.some(({ type }) => type === 'tool-invocation');
  if (status !== 'error' || hasTools || writtenAt.length === 0) return;
  const stored = text.split(' ').length - 1;
  expect(text).toBe(Array.from({ length: stored }, (_, n) => `${n} `).join(''));
  const first = writtenAt[stored];
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
