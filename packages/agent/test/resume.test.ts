import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { canonical, check } from '@intertie/conformance';
import { iterate, type AgentEvent, type Store } from '@intertie/core';
import { createStore } from '@intertie/postgres';
import { expect, it, onTestFinished, vi } from 'vitest';

import { Agent, createRunHost } from '../src/index.ts';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { resumableSource } from './resumable-source.mjs';

const program = fileURLToPath(new URL('resume-process.mjs', import.meta.url));
const leaseMs = 2_000;
const countTo = 60;
const counted = Array.from({ length: countTo }, (_, n) => `${n + 1} `).join('');

async function startProcess(target: string, name: string, requests: string[] = []): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program, target, name, String(leaseMs), ...requests], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => void child.stdout.once('data', resolve));
  return child;
}

async function openReader(target: string): Promise<{ store: Store; agent: Agent }> {
  const store = await createStore({ url: target, leaseMs });
  const host = createRunHost(store, { process: 'reader' });
  onTestFinished(async () => {
    await host.close();
    await store.close();
  });
  // A process that shuts down hands its runs over only if it finds the lease of another one.
  await host.open();
  return { store, agent: new Agent({ source: resumableSource(), store, host }) };
}

it(
  'continues 20 runs whose process is killed, at the cursor of their readers',
  { timeout: 60_000 },
  async ({ annotate }) => {
    const target = await newPostgresUrl();
    const { store, agent } = await openReader(target);
    const threads = Array.from({ length: 20 }, (_, n) => `t${n}`);
    // Two processes at once, each killed at a random moment.
    const gaps: number[] = [];
    const kill = async (name: string, own: string[]): Promise<void> => {
      const child = await startProcess(
        target,
        name,
        own.map((threadId) => `${threadId}=${countTo}`),
      );
      const reading = own.map((threadId) => readEvents(agent, threadId));
      await sleep(Math.random() * 500);
      child.kill('SIGKILL');
      const killedAt = performance.now();
      for (const [index, { events, times }] of (await Promise.all(reading)).entries()) {
        expect(check(canonical, events).violations).toEqual([]);
        expect(getText(events), own[index]).toBe(counted);
        expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
        const message = (await agent.history({ threadId: own[index]! })).messages.at(-1);
        expect(message).toMatchObject({ status: 'complete', content: { parts: [{ type: 'text', text: counted }] } });
        const next = times.find((time) => time > killedAt + 100);
        if (next !== undefined) gaps.push(next - killedAt);
      }
    };
    await Promise.all(Array.from({ length: 5 }, (_, n) => kill(`p${n}`, threads.slice(n * 4, n * 4 + 4))));
    expect(gaps.length).toBeGreaterThan(0);
    const sorted = gaps.toSorted((a, b) => a - b);
    await annotate(
      `time from kill to the next event: median ${Math.round(sorted[sorted.length >> 1]!)} ms, maximum ${Math.round(sorted.at(-1)!)} ms, ${gaps.length} runs`,
    );
    await store.registry.expire();
  },
);

it('continues the run of a killed process in a process that only opens its agent', { timeout: 60_000 }, async () => {
  const target = await newPostgresUrl();
  const killed = await startProcess(target, 'killed', [`t=${countTo}`]);
  const exited = new Promise((resolve) => void killed.once('exit', resolve));
  killed.kill('SIGKILL');
  await exited;
  const store = await createStore({ url: target, leaseMs });
  onTestFinished(() => store.close());
  const readRun = () => store.registry.listRuns(store.scope, { threadId: 't' });
  expect(await readRun()).toMatchObject([{ state: 'running', process: 'killed' }]);
  await startProcess(target, 'opened');
  const waitOptions = { timeout: 30_000, interval: 100 };
  await vi.waitFor(async () => expect(await readRun()).toMatchObject([{ state: 'complete' }]), waitOptions);
});

it('ends a run that kills its process after three attempts, with the reason', { timeout: 60_000 }, async () => {
  const target = await newPostgresUrl();
  const store = await createStore({ url: target, leaseMs });
  const host = createRunHost(store, { process: 'reader' });
  onTestFinished(async () => {
    await host.close();
    await store.close();
  });
  const names = ['p1', 'p2', 'p3'];
  for (const [index, name] of names.entries()) {
    const child = spawn(
      process.execPath,
      [program, target, name, String(leaseMs), ...(index === 0 ? ['t=crash'] : [])],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    await new Promise((resolve) => void child.once('exit', resolve));
  }
  const agent = new Agent({ source: resumableSource(), store, host });
  await vi.waitFor(
    async () => {
      await agent.history({ threadId: 't' });
      const [run] = await store.registry.listRuns(store.scope, { threadId: 't' });
      expect(run).toMatchObject({ state: 'error', outcome: { error: { code: 'too-many-attempts' } } });
    },
    { timeout: 20_000, interval: 100 },
  );
});

it(
  'hands its runs to another process at shutdown, and none ends as shutdown or lost',
  { timeout: 60_000 },
  async () => {
    const target = await newPostgresUrl();
    const { agent, store } = await openReader(target);
    const threads = ['a', 'b', 'c'];
    const child = await startProcess(
      target,
      'leaving',
      threads.map((threadId) => `${threadId}=${countTo}`),
    );
    const reading = threads.map((threadId) => readEvents(agent, threadId));
    const exited = new Promise((resolve) => void child.once('exit', resolve));
    child.kill('SIGTERM');
    await exited;
    for (const { events } of await Promise.all(reading)) {
      expect(check(canonical, events).violations).toEqual([]);
      expect(getText(events)).toBe(counted);
    }
    for (const threadId of threads) {
      expect((await store.registry.listRuns(store.scope, { threadId })).map(({ state }) => state)).toEqual([
        'complete',
      ]);
    }
  },
);

async function readEvents(agent: Agent, threadId: string): Promise<{ events: AgentEvent[]; times: number[] }> {
  const run = await agent.latest({ threadId });
  const events: AgentEvent[] = [];
  const times: number[] = [];
  let last = 0;
  for await (const item of iterate(run!.follow())) {
    if (item.type !== 'events') throw new Error(`A reader got ${item.type}.`);
    // Every event arrives once and in order.
    expect(item.position.seq - item.events.length).toBe(last);
    last = item.position.seq;
    events.push(...item.events);
    times.push(performance.now());
  }
  return { events, times };
}

function getText(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');
}
