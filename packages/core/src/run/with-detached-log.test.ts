import { describe, expect, it, vi } from 'vitest';

import { createMapLog } from '../../test/map-log.ts';
import type { DetachedLog } from './detached-log.ts';
import type { AgentEvent } from '../event/event.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { Store } from '../store/store.ts';
import type { FinishRequest, Started, StartRequest } from '../store/registry.ts';
import { recoverRun } from './recover-run.ts';
import type { RunKey } from '../store/run-log.ts';
import { withDetachedLog } from './with-detached-log.ts';

// The store contract covers a store whose log is reachable; these cases cover one whose log is not.

const delta: AgentEvent = { type: 'text-delta', id: 'p', delta: 'a' };

function setup(): { store: Store; log: DetachedLog; errors: unknown[]; setReachable: (isReachable: boolean) => void } {
  const log = createMapLog();
  const errors: unknown[] = [];
  let isReachable = true;
  const own: DetachedLog['own'] = async (...args) => {
    if (!isReachable) throw new Error('The log is unreachable.');
    return log.own(...args);
  };
  const store = withDetachedLog(createInMemoryStore(), { ...log, own }, { onError: (error) => errors.push(error) });
  return { store, log, errors, setReachable: (value) => void (isReachable = value) };
}

function request(name: string, process: string): StartRequest {
  const ids = { threadId: 't', runId: `run_${name}`, messageId: `a_${name}` };
  return { ...ids, agent: 'helper', process, busy: 'reject', pending: 'reject' };
}

/** Starts a run whose process dies after its first delta. */
async function startAndDie(store: Store): Promise<Started> {
  await store.registry.heartbeat('p1');
  const started = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  await store.log.append([{ run: started.run.key, epoch: 1, seq: 1, events: [delta] }]);
  await store.registry.retire('p1');
  await store.registry.heartbeat('p2');
  return started;
}

it('returns a run taken over during a log outage with the next takeover', async () => {
  const { store, errors, setReachable } = setup();
  const { run } = await startAndDie(store);
  setReachable(false);
  expect(await store.registry.takeOver('p2')).toEqual([]);
  expect(errors).toHaveLength(1);
  setReachable(true);
  expect(await store.registry.takeOver('p3')).toEqual([]);
  expect(await store.registry.takeOver('p2')).toMatchObject([{ run: { key: run.key }, epoch: 2, nextSeq: 2 }]);
  expect(await store.registry.takeOver('p2')).toEqual([]);
});

it('queues a new message behind the run of a dead process during a log outage', async () => {
  const { store, setReachable } = setup();
  const { run } = await startAndDie(store);
  setReachable(false);
  const result = await store.registry.start(store.scope, request('2', 'p2'));
  expect(result).toMatchObject({ type: 'queued', behind: { key: run.key } });
  expect(result).not.toHaveProperty('takenOver');
  setReachable(true);
  expect(await store.registry.takeOver('p2')).toMatchObject([{ run: { key: run.key }, nextSeq: 2 }]);
});

it('omits owned runs during a log outage and does not return them from a takeover', async () => {
  const { store, errors, setReachable } = setup();
  await store.registry.heartbeat('p1');
  const { run } = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  setReachable(false);
  expect(await store.registry.listOwned('p1')).toEqual([]);
  expect(errors).toHaveLength(1);
  setReachable(true);
  expect(await store.registry.takeOver('p1')).toEqual([]);
  expect(await store.registry.listOwned('p1')).toMatchObject([{ run: { key: run.key }, epoch: 1, nextSeq: 1 }]);
});

it('does not return a run that another epoch has taken since', async () => {
  const { store, log, setReachable } = setup();
  const { run } = await startAndDie(store);
  setReachable(false);
  await store.registry.takeOver('p2');
  await log.own(run.key, 3);
  setReachable(true);
  expect(await store.registry.takeOver('p2')).toEqual([]);
});

it('reports a lost log to writer and readers and can still end the run', async () => {
  const { store } = setup();
  const started = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  const run = started.run.key;
  expect(await store.log.append([{ run, epoch: 1, seq: 7, events: [delta] }])).toEqual(['regressed']);
  expect(await store.log.read(run, { epoch: 1, seq: 6 })).toMatchObject({ valid: false, dropped: false });
  const content = { format: 2 as const, parts: [] };
  const end: FinishRequest = { nextSeq: 7, events: [], outcome: { outcome: 'complete' }, content };
  expect(await store.registry.finish(run, 1, end)).toMatchObject({ result: 'ok' });
  expect(await store.registry.getRun(store.scope, run)).toMatchObject({ state: 'complete', lastSeq: 6 });
});

it('does not return a run with the next takeover if a repeated fence has succeeded', async () => {
  const { store, setReachable } = setup();
  const { run } = await startAndDie(store);
  await store.registry.stop(store.scope, run.key, 'replaced');
  setReachable(false);
  await expect(store.registry.fence(run.key, 'p2', 0, 'claim')).rejects.toThrow('unreachable');
  setReachable(true);
  expect(await store.registry.fence(run.key, 'p2', 0, 'claim')).toMatchObject({ epoch: 2, nextSeq: 2 });
  expect(await store.registry.takeOver('p2')).toEqual([]);
});

it('ends a run at the second attempt if only the log has the end of the first', async () => {
  const registryStore = createInMemoryStore();
  const finish = vi.spyOn(registryStore.registry, 'finish').mockRejectedValueOnce(new Error('The database is away.'));
  const store = withDetachedLog(registryStore, createMapLog());
  const { run } = await startAndDie(store);
  const [owned] = await store.registry.takeOver('p2');
  await expect(recoverRun(store, owned!)).rejects.toThrow('away');
  expect(await recoverRun(store, owned!)).toMatchObject({ result: 'ok' });
  expect(finish).toHaveBeenCalledTimes(2);
  const { events } = await store.log.read(run.key, { epoch: 1, seq: 1 });
  expect(events.map(({ type }) => type).filter((type) => type === 'run-end')).toEqual(['run-end']);
});

describe('a log that does not find an ended run', () => {
  async function endRun(): Promise<{ store: Store; log: DetachedLog; run: RunKey }> {
    const { store, log } = setup();
    const { run } = await startAndDie(store);
    const [owned] = await store.registry.takeOver('p2');
    await recoverRun(store, owned!);
    return { store, log, run: run.key };
  }

  it('is read again if its answer was old', async () => {
    const { store, log, run } = await endRun();
    const old = withDetachedLog(store, { ...log, read: async () => null });
    await expect(old.log.read(run, { epoch: 0, seq: 0 })).rejects.toThrow('old state');
    expect((await store.log.read(run, { epoch: 0, seq: 0 })).events).not.toEqual([]);
  });

  it('counts as dropped if it is empty', async () => {
    const { store, run } = await endRun();
    const empty = withDetachedLog(store, createMapLog());
    for (let n = 0; n < 2; n += 1)
      expect(await empty.log.read(run, { epoch: 0, seq: 0 })).toMatchObject({ events: [], dropped: true });
  });
});

it('keeps the other members of the store', () => {
  const { store } = setup();
  expect(store.forScope('ada')).toMatchObject({ scope: 'ada', log: store.log });
  expect(store.forScope('ada').registry).toBe(store.registry);
});
