import type { Outcome } from '@intertie/core';
import { createRunWatcher, followRun } from '@intertie/core/internal';
import { describe, expect, it, onTestFinished } from 'vitest';

import { storeError, type Contract } from './contract.ts';
import { content, deltas, ending, finish, pausing, queue, request, start, getStatus } from './samples.ts';

const threadId = 'thread_1';
const lost = { outcome: 'error', error: { message: 'The process is gone.', code: 'lost' } } as const;

export function ownershipTests(contract: Contract): void {
  describe('finishing a run', () => {
    it('ends the run, its message and its log', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hi') }]);
      const body = content({ type: 'text', id: 'p1', text: 'Hi\0' });
      const message = await finish(
        store,
        { run, epoch, nextSeq: 2 },
        {
          ...ending({ nextSeq: 2, content: body, state: { n: 1 }, sourceState: { task: 7 } }),
          usage: [{ model: 'x', outputTokens: 1 }],
        },
      );
      expect(message).toMatchObject({ id: 'a_1', status: 'complete', content: body, state: { n: 1 }, runId: 'run_1' });
      expect(await store.getMessage({ threadId, messageId: 'a_1' })).toEqual(message);
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({
        state: 'complete',
        outcome: { outcome: 'complete' },
        usage: [{ model: 'x', outputTokens: 1 }],
        lastSeq: 2,
        endedAt: expect.any(Date),
      });
      expect((await store.log.read(run.key, { epoch: 1, seq: 1 })).events).toEqual([
        { type: 'run-end', outcome: 'complete' },
      ]);
      expect(await store.registry.liveRun(store.scope, { threadId })).toBeNull();
      await start(store, '2');
    });

    it.each<Outcome>([
      { outcome: 'aborted', by: 'user', reason: 'enough' },
      { outcome: 'error', error: { message: 'overloaded', code: 'provider' } },
      { outcome: 'paused', waitingFor: [{ type: 'message' }] },
    ])('sets the status of the message to $outcome', async (outcome) => {
      const store = await contract.open();
      const started = await start(store, '1');
      await finish(store, started, ending({ outcome }));
      expect(await getStatus(store, 'a_1')).toBe(outcome.outcome);
      expect(await store.registry.getRun(store.scope, started.run.key)).toMatchObject({
        state: outcome.outcome,
        outcome,
      });
    });

    it('returns the same result for a repeated finish and changes nothing', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const first = await store.registry.finish(run.key, epoch, ending());
      const version = await store.getVersion({ threadId });
      expect(await store.registry.finish(run.key, epoch, ending())).toEqual(first);
      await store.log.close(run.key, 1);
      expect(await store.registry.finish(run.key, epoch, ending())).toEqual(first);
      expect(await store.getVersion({ threadId })).toBe(version);
      expect((await store.log.read(run.key, { epoch: 0, seq: 0 })).tail).toBe(1);
    });

    it('rejects a finish by a previous owner or with a wrong sequence number', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.registry.finish(run.key, epoch + 1, ending())).toEqual({ result: 'fenced' });
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hi') }]);
      expect(await store.registry.finish(run.key, epoch, ending({ nextSeq: 1 }))).toEqual({ result: 'fenced' });
      expect(await getStatus(store, 'a_1')).toBe('streaming');
      const ahead = await store.registry.finish(run.key, epoch, ending({ nextSeq: 5 }));
      expect(ahead.result).toBe(contract.hasDetachedLog ? 'ok' : 'fenced');
    });

    it('delivers the end of a run to readers even if its log is never closed', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hi') }]);
      const watcher = createRunWatcher({ ...store, pollMs: { connected: 20, alone: 20 } });
      onTestFinished(() => watcher.close());
      const reader = followRun({ store, watcher, scope: store.scope, run: run.key }).getReader();
      expect((await reader.read()).value).toMatchObject({ type: 'events', events: deltas('Hi') });
      const rest = reader.read();
      const outcome: Outcome = { outcome: 'aborted', by: 'user' };
      const end = ending({ nextSeq: 2, outcome });
      expect(await store.registry.finish(run.key, epoch, end)).toMatchObject({ result: 'ok' });
      const { value } = await rest;
      // From the log if it was closed in the same transaction, otherwise derived from the run record.
      const last = value?.type === 'events' ? value.events.at(-1) : value?.type === 'ended' ? value.event : undefined;
      expect(last).toMatchObject({ type: 'run-end', ...outcome });
      expect(await reader.read()).toMatchObject({ done: true });
    });

    it('replaces the content of the message with the content at the end of the run', async () => {
      const store = await contract.open();
      const body = content({ type: 'text', id: 'p1', text: 'Hello wrld, how are' }, ...pausing(['q1']).content.parts);
      const started = await start(store, '1');
      const { run } = started;
      await finish(store, started, pausing(['q1'], { content: body }));
      const answered = await store.registry.answer(store.scope, run.key, {
        answers: [{ questionId: 'q1', approved: true }],
        continuation: { runId: 'run_2', process: 'p1' },
      });
      const corrected = content({ type: 'text', id: 'p1', text: 'Hello' });
      const message = await finish(store, answered!.continuation!.ownership!, ending({ content: corrected }));
      expect(message.content).toEqual(corrected);
      expect((await store.getMessage({ threadId, messageId: 'a_1' }))?.content).toEqual(corrected);
    });

    it('finishes with values that JSON cannot represent and stores the nearest JSON', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const odd = { big: 1n, none: () => 1, map: new Map([[1, 2]]), number: Number.NaN } as never;
      const kept = { big: '1', map: [[1, 2]], number: null };
      const end = ending({
        content: content({ type: 'data', id: 'd', data: odd }),
        events: [
          { type: 'raw', dialect: 'x', value: odd },
          { type: 'run-end', outcome: 'complete' },
        ],
        usage: [{ raw: odd }],
        state: odd,
        sourceState: odd,
      });
      const message = await finish(store, started, end);
      expect(message).toMatchObject({ status: 'complete', state: kept, sourceState: kept });
      expect(message.content.parts).toEqual([{ type: 'data', id: 'd', data: kept }]);
      expect(await store.registry.getRun(store.scope, started.run.key)).toMatchObject({
        state: 'complete',
        usage: [{ raw: kept }],
      });
      expect((await store.log.read(started.run.key, { epoch: 0, seq: 0 })).events).toEqual([
        { type: 'raw', dialect: 'x', value: kept },
        { type: 'run-end', outcome: 'complete' },
      ]);
      expect(await store.registry.finish(started.run.key, started.epoch, end)).toMatchObject({ result: 'ok' });
    });

    it('copies the content on write and on read', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const end = ending({ content: content({ type: 'data', id: 'd', data: { n: 1 } }) });
      const message = await finish(store, started, end);
      const before = structuredClone(message);
      Object.assign(end.content.parts[0]!, { data: null });
      message.content.parts.length = 0;
      expect(await store.getMessage({ threadId, messageId: 'a_1' })).toEqual(before);
    });
  });

  describe('ownership of a run', () => {
    it('takes over the runs of a retired process and of no other', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.heartbeat('p2');
      expect(await store.registry.takeOver('p2')).toEqual([]);
      await store.registry.retire('p1');
      const taken = await store.registry.takeOver('p2');
      expect(taken).toEqual([{ run: { ...run, process: 'p2', attempts: 2 }, epoch: 2, nextSeq: 1 }]);
      expect(await store.registry.takeOver('p2')).toEqual([]);
    });

    it('hands a released run to the next process without counting an attempt', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.heartbeat('p1');
      await store.registry.heartbeat('p2');
      expect(await store.registry.release(run.key, 2)).toBe('fenced');
      await store.log.append([{ run: run.key, epoch: 1, seq: 1, events: deltas('Hi') }]);
      expect(await store.registry.release(run.key, 1)).toBe('ok');
      expect(await store.registry.release(run.key, 1)).toBe('fenced');
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'running' });
      const taken = await store.registry.takeOver('p2', { agents: [run.agent] });
      expect(taken).toEqual([{ run: { ...run, process: 'p2' }, epoch: 3, nextSeq: 2 }]);
      // A position of the first owner stays valid.
      await store.log.append([{ run: run.key, epoch: 3, seq: 2, events: deltas('!') }]);
      const page = await store.log.read(run.key, { epoch: 1, seq: 1 });
      expect(page).toMatchObject({ events: deltas('!'), valid: true, position: { epoch: 3, seq: 2 } });
    });

    it('counts an attempt when a process that has fenced a released run dies', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.release(run.key, 1);
      await store.registry.stop(store.scope, run.key);
      expect(await store.registry.fence(run.key, 'p2', 0)).toMatchObject({ epoch: 3 });
      expect(await store.registry.takeOver('p3')).toMatchObject([{ epoch: 4, run: { attempts: 2 } }]);
    });

    it('leaves runs of unknown agents to other processes until the grace period is over', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      expect(await store.registry.release(run.key, 1)).toBe('ok');
      expect(await store.registry.takeOver('p2', { agents: ['another'] })).toEqual([]);
      await new Promise((resolve) => void setTimeout(resolve, 5));
      const taken = await store.registry.takeOver('p2', { agents: ['another'], graceMs: -1 });
      expect(taken).toHaveLength(1);
    });

    it('knows whether another process has a lease', async () => {
      const store = await contract.open();
      await store.registry.heartbeat('p1');
      expect(await store.registry.hasPeers('p1')).toBe(false);
      await store.registry.heartbeat('p2');
      expect(await store.registry.hasPeers('p1')).toBe(true);
      await store.registry.retire('p2');
      expect(await store.registry.hasPeers('p1')).toBe(false);
    });

    it('refuses a new run while a resumable run of a dead process is not taken over', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.retire('p1');
      const refused = await store.registry.start(store.scope, request('2', { resumable: [run.agent] }));
      expect(refused).toMatchObject({ type: 'refused', reason: 'busy', live: { key: run.key } });
      const queued = await store.registry.start(store.scope, request('3', { resumable: [run.agent], busy: 'queue' }));
      expect(queued).toMatchObject({ type: 'queued', takenOver: { run: { key: run.key, attempts: 2 } } });
    });

    it('takes over after a lease has expired, and not while heartbeats renew it', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      await start(store, '1');
      await clock.advance(clock.leaseMs * 0.7);
      await store.registry.heartbeat('p1');
      await clock.advance(clock.leaseMs * 0.7);
      expect(await store.registry.takeOver('p2')).toEqual([]);
      await clock.advance(clock.leaseMs);
      expect(await store.registry.takeOver('p2')).toHaveLength(1);
    });

    it('takes over only released runs if asked, not those whose lease has expired', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const expired = await start(store, '1');
      const released = await start(store, '2', { threadId: 'thread_2', message: undefined });
      const retired = await start(store, '3', { threadId: 'thread_3', message: undefined, process: 'retired' });
      await store.registry.release(released.run.key, 1);
      await store.registry.heartbeat('p1');
      await clock.advance(clock.leaseMs * 1.1);
      await store.registry.heartbeat('p2');
      const taken = await store.registry.takeOver('p2', { onlyReleased: true });
      expect(taken.map(({ run }) => run.key)).toEqual([released.run.key, retired.run.key]);
      expect(await store.registry.takeOver('p2')).toMatchObject([{ run: { key: expired.run.key } }]);
    });

    it('uses the lease that a heartbeat names', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      await start(store, '1');
      await store.registry.heartbeat('p1', undefined, clock.leaseMs / 2);
      await clock.advance(clock.leaseMs * 0.6);
      expect(await store.registry.takeOver('p2')).toHaveLength(1);
    });

    it('fences every write of the previous owner after a takeover', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      await store.registry.retire('p1');
      const [taken] = await store.registry.takeOver('p2');
      expect(taken).toMatchObject({ epoch: 2, nextSeq: 2 });
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('zombie') }])).toEqual(['fenced']);
      expect(await store.registry.finish(run.key, epoch, ending({ nextSeq: 2 }))).toEqual({ result: 'fenced' });
      expect(await store.registry.openDecisions(run.key, epoch, [])).toBe('fenced');
      expect(await store.registry.setWaiting(run.key, epoch, true)).toBe('fenced');
      const end = ending({ nextSeq: 2, outcome: lost });
      await finish(store, taken!, end);
      expect(await store.registry.finish(run.key, epoch, end)).toEqual({ result: 'fenced' });
      expect(await getStatus(store, 'a_1')).toBe('error');
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('zombie') }])).toEqual(['ended']);
      const page = await store.log.read(run.key, { epoch: 0, seq: 0 });
      expect(page).toMatchObject({ events: deltas('a'), position: { epoch: 1, seq: 1 }, tail: 2 });
      expect((await store.log.read(run.key, page.position)).events).toEqual([{ type: 'run-end', ...lost }]);
    });

    it('takes over each run once when several processes try', async () => {
      const store = await contract.open();
      await start(store, '1');
      await start(store, '2', { threadId: 'thread_2', message: undefined });
      await store.registry.retire('p1');
      await store.registry.heartbeat('p2');
      await store.registry.heartbeat('p3');
      const taken = await Promise.all(['p2', 'p3'].map((process) => store.registry.takeOver(process)));
      expect(taken.flat()).toHaveLength(2);
      expect(new Set(taken.flat().map(({ run }) => run.key)).size).toBe(2);
    });

    it('takes over the run of a dead process when a new message arrives, under any policy', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.retire('p1');
      await store.registry.heartbeat('p2');
      const result = await store.registry.start(store.scope, request('2', { process: 'p2', busy: 'reject' }));
      expect(result).toMatchObject({
        type: 'queued',
        run: { state: 'queued' },
        behind: { key: run.key, process: 'p2' },
        takenOver: { run: { key: run.key, process: 'p2' }, epoch: 2, nextSeq: 1 },
      });
      await finish(store, { run, epoch: 2, nextSeq: 1 }, ending({ outcome: lost }));
      expect(await store.registry.promote(store.scope, threadId, 'p2')).toMatchObject({ run: { runId: 'run_2' } });
    });

    it('promotes queued runs in the order of arrival when the thread is free', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const { run: second } = await queue(store, '2');
      await queue(store, '3');
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toBeNull();
      expect(await store.registry.listStranded()).toEqual([]);
      await finish(store, first, ending());
      expect(await store.registry.listStranded()).toEqual([{ scope: store.scope, threadId }]);
      const promoted = await Promise.all(
        ['p1', 'p2'].map((process) => store.registry.promote(store.scope, threadId, process)),
      );
      const won = promoted.find((ownership) => ownership !== null);
      expect(promoted).toContain(null);
      expect(won).toMatchObject({ run: { key: second.key, state: 'running' }, epoch: 1, nextSeq: 1 });
      expect(await store.registry.listStranded()).toEqual([]);
      await finish(store, won!, ending());
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { runId: 'run_3' } });
    });

    it('cancels decisions of the parent message when a queued run is promoted', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      await queue(store, '2');
      await finish(store, first, pausing(['q1']));
      expect(await getStatus(store, 'a_1')).toBe('paused');
      await store.registry.promote(store.scope, threadId, 'p1');
      expect(await getStatus(store, 'a_1')).toBe('aborted');
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([{ id: 'q1', state: 'cancelled' }]);
    });

    it('fences a run that does not react to a stop request', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.registry.fence(run.key, 'p2', 0)).toBeNull();
      await queue(store, '2', { process: 'p2', busy: 'replace' });
      expect(await store.registry.fence(run.key, 'p2', 60_000)).toBeNull();
      await clock.advance(250);
      const fenced = await store.registry.fence(run.key, 'p2', 200);
      expect(fenced).toMatchObject({ run: { process: 'p2' }, epoch: 2, nextSeq: 1 });
      expect(await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('zombie') }])).toEqual(['fenced']);
      await finish(store, fenced!, ending({ outcome: { outcome: 'aborted', by: 'system', reason: 'replaced' } }));
      expect(await store.registry.promote(store.scope, threadId, 'p2')).toMatchObject({ run: { runId: 'run_2' } });
    });

    it.each([
      ['a NUL', 'p\0'],
      ['a lone surrogate', 'p\uD800'],
    ])('rejects a process name with %s', async (_, process) => {
      const { scope, registry } = await contract.open();
      await expect(registry.heartbeat(process)).rejects.toMatchObject(storeError('invalid'));
      await expect(registry.retire(process)).rejects.toMatchObject(storeError('invalid'));
      await expect(registry.takeOver(process)).rejects.toMatchObject(storeError('invalid'));
      await expect(registry.listOwned(process)).rejects.toMatchObject(storeError('invalid'));
      await expect(registry.promote(scope, threadId, process)).rejects.toMatchObject(storeError('invalid'));
    });

    it('records whether a live run waits inside its process', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.registry.setWaiting(run.key, epoch, true)).toBe('ok');
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'running', waiting: true });
      await store.registry.setWaiting(run.key, epoch, false);
      expect(await store.registry.getRun(store.scope, run.key)).toEqual(run);
    });
  });

  describe('stopping a run', () => {
    it('aborts a queued run, which never starts', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const { run } = await queue(store, '2');
      expect(await store.registry.stop(store.scope, run.key, 'changed my mind')).toBe('aborted');
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({
        state: 'aborted',
        outcome: { outcome: 'aborted', by: 'user', reason: 'changed my mind' },
      });
      expect(await getStatus(store, 'a_2')).toBe('aborted');
      await finish(store, first, ending());
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toBeNull();
    });

    it('ignores a stop of an ended run and leaves the next run alone', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      await finish(store, first, ending());
      const second = await start(store, '2');
      expect(await store.registry.stop(store.scope, first.run.key)).toBe('ended');
      expect((await store.log.positions([second.run.key])).get(second.run.key)).toMatchObject({ stop: false });
    });
  });
}
