import { createInMemoryStore, type AgentSource, type RunRecord, type Store } from '@intertie/core';
import { pause } from '@intertie/core/internal';
import type { RunKey } from '@intertie/core/store';
import { afterEach, expect, it, vi } from 'vitest';
import { resumableSource } from '../../test/resumable-source.mjs';
import { unresponsiveSource } from '../../test/unresponsive-source.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost } from './run-host.ts';

afterEach(() => void vi.useRealTimers());

it('closes after the shortest drain timeout, even if the source ignores the stop', async () => {
  const store = createInMemoryStore();
  const host = createRunHost(store, { tickMs: 2 });
  const agent = new Agent({ source: unresponsiveSource, store, host });
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const firstClose = host.close({ drainMs: 600_000 });
  // The run is still draining.
  await vi.waitFor(async () => expect(await run.record()).toMatchObject({ state: 'running' }));
  await host.close({ drainMs: 10 });
  await firstClose;
  expect(await run.record()).toMatchObject({
    state: 'aborted',
    outcome: { outcome: 'aborted', by: 'system', reason: 'shutdown' },
  });
});

it('does not take over runs of processes that return shortly after a long outage of the store', async () => {
  vi.useFakeTimers();
  const store = createInMemoryStore();
  const { heartbeat } = store.registry;
  const away = new Set<string>();
  store.registry.heartbeat = async (process, ...rest) => {
    if (away.has(process)) throw new Error('The store is away.');
    await heartbeat(process, ...rest);
  };
  const [first, second] = ['first', 'second'].map((process) => createRunHost(store, { process }));
  const [, agent] = [first, second].map((host) => new Agent({ source: unresponsiveSource, store, host: host! }));
  await first!.open();
  const run = await agent!.stream({ threadId: 't', message: 'Go' });
  for (const process of ['first', 'second']) away.add(process);
  await vi.advanceTimersByTimeAsync(60_000);
  away.delete('first');
  await vi.advanceTimersByTimeAsync(8_000);
  away.delete('second');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await run.record()).toMatchObject({ state: 'running' });
  // A process that does not return is dead.
  away.add('second');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await run.record()).toMatchObject({ state: 'error', outcome: { error: { code: 'lost' } } });
  const closed = Promise.all([first!.close(), second!.close()]);
  await vi.advanceTimersByTimeAsync(30_000);
  await closed;
});

/** Store whose leases cannot be renewed while it is away. */
function createStoreWithOutage(): { store: Store; setAway: (isAway: boolean) => void } {
  const store = createInMemoryStore();
  const { heartbeat } = store.registry;
  let isAway = false;
  store.registry.heartbeat = async (...args) => {
    if (isAway) throw new Error('The store is away.');
    await heartbeat(...args);
  };
  return { store, setAway: (value) => void (isAway = value) };
}

it('does not take over runs of a live process when it opens right after an outage of the store', async () => {
  vi.useFakeTimers();
  const { store, setAway } = createStoreWithOutage();
  const [first, opening] = ['first', 'opening'].map((process) => createRunHost(store, { process }));
  const [agent] = [first, opening].map((host) => new Agent({ source: unresponsiveSource, store, host: host! }));
  const run = await agent!.stream({ threadId: 't', message: 'Go' });
  setAway(true);
  await vi.advanceTimersByTimeAsync(61_000);
  setAway(false);
  await opening!.open();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await run.record()).toMatchObject({ state: 'running', process: 'first' });
  const closed = Promise.all([first!.close(), opening!.close()]);
  await vi.advanceTimersByTimeAsync(30_000);
  await closed;
});

it('does not take over runs when another process releases one right after an outage of the store', async () => {
  vi.useFakeTimers();
  const { store, setAway } = createStoreWithOutage();
  const hosts = ['first', 'second'].map((process) => createRunHost(store, { process }));
  const runs = await Promise.all(
    hosts.map((host) =>
      new Agent({ source: unresponsiveSource, store, host }).stream({ threadId: host.process, message: 'Go' }),
    ),
  );
  setAway(true);
  await vi.advanceTimersByTimeAsync(60_000);
  setAway(false);
  store.hints.publish({ type: 'released', run: 'another' as RunKey });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await Promise.all(runs.map((run) => run.record()))).toMatchObject([
    { state: 'running', process: 'first' },
    { state: 'running', process: 'second' },
  ]);
  const closed = Promise.all(hosts.map((host) => host.close()));
  await vi.advanceTimersByTimeAsync(30_000);
  await closed;
});

const readings: { [name: string]: (agent: Agent, runId: string) => Promise<unknown> } = {
  history: (agent) => agent.history({ threadId: 't' }),
  find: (agent, runId) => agent.find({ runId }),
  latest: (agent) => agent.latest({ threadId: 't' }),
};

it.each(Object.keys(readings))('ends the run of a dead process for a program that only calls `%s()`', async (name) => {
  const store: Store = createInMemoryStore({ leaseMs: 30 });
  const dead = createRunHost(store, { heartbeatMs: 60_000, sweepMs: 60_000 });
  const run = await new Agent({ source: unresponsiveSource, store, host: dead }).stream({
    threadId: 't',
    message: 'Go',
  });
  const host = createRunHost(store);
  await readings[name]!(new Agent({ source: unresponsiveSource, store, host }), run.runId);
  const ended = { state: 'error', outcome: { error: { code: 'lost' } } };
  await vi.waitFor(async () => expect(await run.record()).toMatchObject(ended), { timeout: 10_000 });
  await Promise.all([host.close(), dead.close()]);
});

/** Opens two processes, the second with a run. Its heartbeats can be delayed, like those of a blocked event loop. */
async function openTwo(source: AgentSource = unresponsiveSource) {
  vi.useFakeTimers();
  const store = createInMemoryStore();
  const { heartbeat } = store.registry;
  let blocked: Promise<void> | undefined;
  store.registry.heartbeat = async (process, ...rest) => {
    if (process === 'second') await blocked;
    await heartbeat(process, ...rest);
  };
  const [first, second] = ['first', 'second'].map((process) => createRunHost(store, { process }));
  const [, agent] = [first, second].map((host) => new Agent({ source, store, host: host! }));
  await first!.open();
  const run = await agent!.stream({ threadId: 't', message: 'Go' });
  await vi.advanceTimersByTimeAsync(10_000);
  const block = async (ms: number): Promise<void> => {
    let release: () => void = () => undefined;
    blocked = new Promise((resolve) => void (release = resolve));
    await vi.advanceTimersByTimeAsync(ms);
    release();
    blocked = undefined;
    await vi.advanceTimersByTimeAsync(20_000);
  };
  const close = async (): Promise<void> => {
    const closed = Promise.all([first!.close(), second!.close()]);
    await vi.advanceTimersByTimeAsync(30_000);
    await closed;
  };
  return { run, block, close };
}

it('keeps its runs while its event loop is blocked for 30 seconds', async () => {
  const { run, block, close } = await openTwo();
  await block(30_000);
  expect(await run.record()).toMatchObject({ state: 'running', process: 'second' });
  await close();
});

it('loses its runs when its event loop is blocked for longer than the lease', async () => {
  const { run, block, close } = await openTwo();
  await block(60_000);
  expect(await run.record()).toMatchObject({ state: 'error', outcome: { error: { code: 'lost' } } });
  await close();
});

it('hands runs that can continue to another process after it was blocked for 15 seconds', async () => {
  const resumable: AgentSource = {
    ...unresponsiveSource,
    resume: (run, _from, control) => unresponsiveSource.run(run, control),
  };
  const { run, block, close } = await openTwo(resumable);
  await block(8_000);
  expect(await run.record()).toMatchObject({ state: 'running', process: 'second' });
  // The lease of 15 seconds, and up to 6 seconds until the next sweep.
  await block(25_000);
  expect(await run.record()).toMatchObject({ state: 'running', process: 'first', attempts: 2 });
  await close();
});

it('closes in bounded time while the database does not answer a sweep', async () => {
  const store = createInMemoryStore();
  vi.spyOn(store.registry, 'expire').mockReturnValue(new Promise(() => undefined));
  const host = createRunHost(store);
  await host.open();
  await vi.waitFor(() => expect(store.registry.expire).toHaveBeenCalled());
  vi.useFakeTimers();
  const closed = host.close();
  await vi.advanceTimersByTimeAsync(10_000);
  await expect(closed).resolves.toBeUndefined();
});

it('leaves a released run to a process that has its agent when a message for another agent arrives', async () => {
  const store = createInMemoryStore();
  const [owner, stranger] = ['owner', 'stranger'].map((process) => createRunHost(store, { process, sweepMs: 600_000 }));
  const known = new Agent({ name: 'b', source: resumableSource(), store, host: owner! });
  const another = new Agent({ name: 'a', source: unresponsiveSource, store, host: stranger! });
  await Promise.all([known.open(), another.open()]);
  const request = { threadId: 't', runId: 'r1', messageId: 'm1', agent: 'b', process: 'leaving' } as const;
  const started = await store.registry.start(store.scope, { ...request, busy: 'reject', pending: 'supersede' });
  if (started.type !== 'started') throw new Error('The run was not started.');
  await store.registry.release(started.run.key, started.epoch);
  await another.stream({ threadId: 't', message: 'Hi', busy: 'queue' });
  const find = (): Promise<RunRecord | null> => store.registry.getRun(store.scope, started.run.key);
  await vi.waitFor(async () => expect(await find()).toMatchObject({ state: 'complete' }));
  await Promise.all([owner!.close(), stranger!.close()]);
});

it('hands over a run that is still being prepared', async () => {
  const store = createInMemoryStore();
  await store.saveThread({ thread: { id: 't' } });
  let finishReading: () => void = () => undefined;
  const isRead = new Promise<void>((resolve) => void (finishReading = resolve));
  const slow: Store = {
    ...store,
    forScope: (scope) => {
      const scoped = store.forScope(scope);
      return { ...scoped, listMessages: (query) => isRead.then(() => scoped.listMessages(query)) };
    },
  };
  const leaving = createRunHost(slow, { process: 'leaving' });
  const staying = createRunHost(store, { process: 'staying', sweepMs: 10 });
  const [started, continued] = [
    new Agent({ source: resumableSource({ delayMs: 60_000 }), store: slow, host: leaving }),
    new Agent({ source: resumableSource({ delayMs: 0 }), store, host: staying }),
  ];
  await staying.open();
  const { runId } = await started.stream({ threadId: 't', message: '3' });
  const hasPeers = vi.spyOn(store.registry, 'hasPeers');
  const closed = leaving.close();
  await vi.waitFor(() => expect(hasPeers).toHaveBeenCalled());
  setTimeout(finishReading);
  await closed;
  await vi.waitFor(async () => {
    const message = (await continued.history({ threadId: 't' })).messages.at(-1);
    expect(message).toMatchObject({ status: 'complete', content: { parts: [{ text: '1 2 3 ' }] } });
  });
  expect(await store.registry.findRun(store.scope, { runId })).toMatchObject({ state: 'complete' });
  await staying.close();
});

it.each([30, 20_000])('releases its lease if it is closed while it opens for %i ms', async (ms) => {
  vi.useFakeTimers();
  const store = createInMemoryStore();
  const { heartbeat } = store.registry;
  store.registry.heartbeat = async (...args) => {
    await pause(ms);
    await heartbeat(...args);
  };
  const host = createRunHost(store);
  const results = Promise.allSettled([host.open(), host.close()]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await results).toMatchObject([{ status: 'rejected', reason: { code: 'closing' } }, { status: 'fulfilled' }]);
  expect(await store.registry.hasPeers('another')).toBe(false);
});

it('ends a run whose start is under way when it is closed', async () => {
  vi.useFakeTimers();
  const store = createInMemoryStore();
  const { start } = store.registry;
  store.registry.start = async (...args) => {
    await pause(30);
    return start(...args);
  };
  const host = createRunHost(store);
  await host.open();
  const starting = new Agent({ source: unresponsiveSource, store, host }).stream({ threadId: 't', message: 'Go' });
  await vi.advanceTimersByTimeAsync(10);
  const closed = host.close();
  await vi.advanceTimersByTimeAsync(30_000);
  await closed;
  expect(await (await starting).record()).toMatchObject({ state: 'aborted', outcome: { reason: 'shutdown' } });
});
