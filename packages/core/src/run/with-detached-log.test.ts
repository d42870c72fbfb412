import { expect, it } from 'vitest';

import { createMapLog } from '../../test/map-log.ts';
import type { DetachedLog } from './detached-log.ts';
import type { AgentEvent } from '../event/event.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { Store } from '../store/store.ts';
import type { FinishRequest, Started, StartRequest } from '../store/registry.ts';
import { withDetachedLog } from './with-detached-log.ts';

// What such a store does when both are there is in the store contract; this is what it does when the log is not.

const word: AgentEvent = { type: 'text-delta', id: 'p', delta: 'a' };

function stage(): { store: Store; log: DetachedLog; errors: unknown[]; setReach: (isThere: boolean) => void } {
  const log = createMapLog();
  const errors: unknown[] = [];
  let isThere = true;
  const own: DetachedLog['own'] = async (...args) => {
    if (!isThere) throw new Error('No log is there.');
    return log.own(...args);
  };
  const store = withDetachedLog(createInMemoryStore(), { ...log, own }, { onError: (error) => errors.push(error) });
  return { store, log, errors, setReach: (value) => void (isThere = value) };
}

function request(name: string, process: string): StartRequest {
  const ids = { threadId: 't', runId: `run_${name}`, messageId: `a_${name}` };
  return { ...ids, agent: 'helper', process, busy: 'reject', pending: 'reject' };
}

/** A run of a process that dies after its first word. */
async function startAndDie(store: Store): Promise<Started> {
  await store.registry.heartbeat('p1');
  const started = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  await store.log.append([{ run: started.run.key, epoch: 1, seq: 1, events: [word] }]);
  await store.registry.retire('p1');
  await store.registry.heartbeat('p2');
  return started;
}

it('gives a run that was taken over while the log was away as soon as it is back: nobody else would end it', async () => {
  const { store, errors, setReach } = stage();
  const { run } = await startAndDie(store);
  setReach(false);
  expect(await store.registry.takeOver('p2')).toEqual([]);
  expect(errors).toHaveLength(1);
  setReach(true);
  expect(await store.registry.takeOver('p3')).toEqual([]);
  expect(await store.registry.takeOver('p2')).toMatchObject([{ run: { key: run.key }, epoch: 2, nextSeq: 2 }]);
  expect(await store.registry.takeOver('p2')).toEqual([]);
});

it('queues a new message behind the run of a dead process while the log is away', async () => {
  const { store, setReach } = stage();
  const { run } = await startAndDie(store);
  setReach(false);
  const result = await store.registry.start(store.scope, request('2', 'p2'));
  expect(result).toMatchObject({ type: 'queued', behind: { key: run.key } });
  expect(result).not.toHaveProperty('takenOver');
  setReach(true);
  expect(await store.registry.takeOver('p2')).toMatchObject([{ run: { key: run.key }, nextSeq: 2 }]);
});

it('leaves out an owned run while the log is away, and does not give it to a takeover', async () => {
  const { store, errors, setReach } = stage();
  await store.registry.heartbeat('p1');
  const { run } = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  setReach(false);
  expect(await store.registry.listOwned('p1')).toEqual([]);
  expect(errors).toHaveLength(1);
  setReach(true);
  expect(await store.registry.takeOver('p1')).toEqual([]);
  expect(await store.registry.listOwned('p1')).toMatchObject([{ run: { key: run.key }, epoch: 1, nextSeq: 1 }]);
});

it('gives a run up that somebody else has taken since', async () => {
  const { store, log, setReach } = stage();
  const { run } = await startAndDie(store);
  setReach(false);
  await store.registry.takeOver('p2');
  await log.own(run.key, 3);
  setReach(true);
  expect(await store.registry.takeOver('p2')).toEqual([]);
});

it('a log that was lost: its writer hears so, its readers begin again, and the run can be ended', async () => {
  const { store } = stage();
  const started = (await store.registry.start(store.scope, request('1', 'p1'))) as Started;
  const run = started.run.key;
  expect(await store.log.append([{ run, epoch: 1, seq: 7, events: [word] }])).toEqual(['regressed']);
  expect(await store.log.read(run, { epoch: 1, seq: 6 })).toMatchObject({ valid: false, dropped: false });
  const content = { format: 2 as const, parts: [] };
  const end: FinishRequest = { nextSeq: 7, events: [], outcome: { outcome: 'complete' }, content };
  expect(await store.registry.finish(run, 1, end)).toMatchObject({ result: 'ok' });
  expect(await store.registry.getRun(store.scope, run)).toMatchObject({ state: 'complete', lastSeq: 6 });
});

it('keeps what else a store is able to do', () => {
  const { store } = stage();
  expect(store.forScope('ada')).toMatchObject({ scope: 'ada', log: store.log });
  expect(store.forScope('ada').registry).toBe(store.registry);
});
