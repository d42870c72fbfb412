import type { Queued } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { answer, threadId, yes } from './answers.ts';
import { storeError, type Contract } from './contract.ts';
import { deltas, ending, finish, listBranchIds, message, paused, queue, request, start } from './samples.ts';

const idempotency = { key: 'k', hash: 'h' };

/** Calls that return ownership, repeated because the reply to the first one was lost. */
export function repeatedCallTests(contract: Contract): void {
  describe('repeating a start', () => {
    it.each([
      ['with', { idempotency }],
      ['without', {}],
    ])('returns the ownership of the first call %s an idempotency key', async (_, rest) => {
      const store = await contract.open();
      const { run, epoch, nextSeq } = await start(store, '1', rest);
      const version = await store.getVersion({ threadId });
      const repeated = await store.registry.start(store.scope, request('1', rest));
      expect(repeated).toEqual({ type: 'started', run, epoch, nextSeq, superseded: [] });
      expect(await store.getVersion({ threadId })).toBe(version);
      expect(await listBranchIds(store)).toEqual(['u_1', 'a_1']);
    });

    it('attaches when the run has ended, was taken over, or belongs to another process', async () => {
      const store = await contract.open();
      const { run, ...owned } = await start(store, '1');
      const attached = { type: 'attached', run: { key: run.key } };
      const repeat = (rest = {}) => store.registry.start(store.scope, request('1', rest));
      expect(await repeat({ process: 'p2' })).toMatchObject(attached);
      await store.registry.retire('p1');
      const [taken] = await store.registry.takeOver('p1');
      expect(await repeat()).toMatchObject(attached);
      await finish(store, { run, ...owned, epoch: taken!.epoch }, ending());
      expect(await repeat()).toMatchObject({ ...attached, run: { state: 'complete' } });
    });

    it('attaches when the run has logged an event where the registry can see it', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('Hi') }]);
      const { type } = await store.registry.start(store.scope, request('1'));
      expect(type).toBe(contract.hasDetachedLog ? 'started' : 'attached');
    });

    it('returns the queued run, and attaches once it is promoted', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const queued = await queue(store, '2');
      const repeat = () => store.registry.start(store.scope, request('2', { busy: 'queue' }));
      expect(await repeat()).toEqual(queued);
      await finish(store, first, ending());
      expect(await repeat()).toMatchObject({
        type: 'queued',
        run: { key: queued.run.key },
        behind: { state: 'queued' },
      });
      expect(await store.registry.listRuns(store.scope, { threadId })).toHaveLength(2);
      // The process that promoted the run executes it, so a second ownership would execute it twice.
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ epoch: 1, nextSeq: 1 });
      expect(await repeat()).toMatchObject({ type: 'attached', run: { key: queued.run.key, state: 'running' } });
    });

    it('returns the run of a dead process that the first call took over', async () => {
      const store = await contract.open();
      await start(store, '1');
      await store.registry.retire('p1');
      await store.registry.heartbeat('p2');
      const taking = request('2', { process: 'p2' });
      const queued = (await store.registry.start(store.scope, taking)) as Queued;
      expect(queued.takenOver).toMatchObject({ epoch: 2, run: { process: 'p2' } });
      expect(await store.registry.start(store.scope, taking)).toEqual(queued);
      // A call that waits behind the same run did not take it over.
      const third = request('3', { process: 'p2', busy: 'queue' });
      await store.registry.start(store.scope, third);
      expect(await store.registry.start(store.scope, third)).not.toHaveProperty('takenOver');
    });
  });

  describe('repeating an answer', () => {
    it('returns the continuation with its ownership', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const first = await answer(store, run.key, [yes('q1')]);
      expect(first.continuation).toMatchObject({ created: true, ownership: { epoch: 1, nextSeq: 1 } });
      const { continuation, verdicts } = await answer(store, run.key, [yes('q1')]);
      expect(continuation).toEqual(first.continuation);
      expect(verdicts).toEqual([{ id: 'q1', result: 'duplicate' }]);
    });

    it('returns no ownership to another call or process', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      await answer(store, run.key, [yes('q1')]);
      const other = { continuation: { runId: 'run_other', process: 'p1' } };
      expect((await answer(store, run.key, [yes('q1')], other)).continuation).toMatchObject({
        run: { runId: 'run_next' },
        created: false,
      });
      for (const continuation of [other.continuation, { runId: 'run_next', process: 'p2' }]) {
        const again = await answer(store, run.key, [yes('q1')], { continuation });
        expect(again.continuation).not.toHaveProperty('ownership');
      }
    });

    it('returns no ownership of a continuation that was queued and promoted', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const other = await start(store, '2', { parentId: null });
      await answer(store, run.key, [yes('q1')]);
      await finish(store, other, ending());
      await store.registry.promote(store.scope, threadId, 'p1');
      const { continuation } = await answer(store, run.key, [yes('q1')]);
      expect(continuation).toMatchObject({ created: true, run: { state: 'running' } });
      expect(continuation).not.toHaveProperty('ownership');
    });
  });

  describe('repeating a claim', () => {
    it('returns the run that the same promotion started', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      await queue(store, '2');
      await queue(store, '3');
      await finish(store, first, ending());
      const promote = (claim: string, process = 'p1') => store.registry.promote(store.scope, threadId, process, claim);
      const promoted = await promote('c1');
      expect(promoted).toMatchObject({ run: { runId: 'run_2' }, epoch: 1, nextSeq: 1 });
      expect(await promote('c1')).toEqual(promoted);
      expect(await promote('c2')).toBeNull();
      expect(await promote('c1', 'p2')).toBeNull();
      await finish(store, promoted!, ending());
      expect(await promote('c2')).toMatchObject({ run: { runId: 'run_3' } });
      // Nothing is queued any more: the repeated call is not mistaken for one with nothing to do.
      expect(await promote('c2')).toMatchObject({ run: { runId: 'run_3' } });
    });

    it('returns the run that the same call fenced, without fencing it again', async () => {
      const store = await contract.open();
      const { run } = await start(store, '1');
      await store.registry.stop(store.scope, run.key);
      const fenced = await store.registry.fence(run.key, 'p2', 0, 'c1');
      expect(fenced).toMatchObject({ run: { process: 'p2' }, epoch: 2 });
      expect(await store.registry.fence(run.key, 'p2', 0, 'c1')).toEqual(fenced);
      expect(await store.registry.fence(run.key, 'p3', 0, 'c2')).toMatchObject({ run: { process: 'p3' }, epoch: 3 });
      expect(await store.registry.fence(run.key, 'p2', 60_000, 'c1')).toBeNull();
    });

    it('returns the runs that the same takeover took', async () => {
      const store = await contract.open();
      await start(store, '1');
      await start(store, '2', { threadId: 'thread_2', message: undefined });
      await store.registry.retire('p1');
      await store.registry.heartbeat('p2');
      const taken = await store.registry.takeOver('p2', { claim: 'c1' });
      expect(taken).toMatchObject([{ epoch: 2 }, { epoch: 2 }]);
      expect(await store.registry.takeOver('p2', { claim: 'c1' })).toEqual(taken);
      expect(await store.registry.takeOver('p2', { claim: 'c2' })).toEqual([]);
      expect(await store.registry.takeOver('p3', { claim: 'c1' })).toEqual([]);
      // The same applies if the process has no lease, so that its own runs look abandoned.
      await store.registry.retire('p2');
      expect(await store.registry.takeOver('p2', { claim: 'c1' })).toEqual(taken);
      expect(await store.registry.takeOver('p2', { claim: 'c3', limit: 1 })).toMatchObject([{ epoch: 3 }]);
    });

    it('rejects an invalid claim', async () => {
      const { scope, registry } = await contract.open();
      await expect(registry.promote(scope, threadId, 'p1', 'c\0')).rejects.toMatchObject(storeError('invalid'));
      await expect(registry.takeOver('p1', { claim: 'c\0' })).rejects.toMatchObject(storeError('invalid'));
    });
  });

  describe('listing the runs of a process', () => {
    it('returns only the live runs of the process, oldest first, with their ownership', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      await queue(store, '2');
      const third = await start(store, '3', {
        threadId: 'thread_3',
        message: message('u_3', { threadId: 'thread_3' }),
      });
      await start(store, '4', { threadId: 'thread_4', message: undefined, process: 'p2' });
      await store.log.append([{ run: first.run.key, epoch: 1, seq: 1, events: deltas('a', 'b') }]);
      expect(await store.registry.listOwned('p1')).toEqual([
        { run: first.run, epoch: 1, nextSeq: 3 },
        { run: third.run, epoch: 1, nextSeq: 1 },
      ]);
      expect(await store.registry.listOwned('p1', { limit: 1 })).toMatchObject([{ run: { key: first.run.key } }]);
      expect(await store.registry.listOwned('p1', { except: [first.run.key] })).toMatchObject([
        { run: { key: third.run.key } },
      ]);
      await finish(store, third, ending());
      expect(await store.registry.listOwned('p1', { except: [first.run.key] })).toEqual([]);
      expect(await store.registry.listOwned('unknown')).toEqual([]);
    });

    it('returns a run after a takeover, writable only by its new owner', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      await store.registry.retire('p1');
      await store.registry.takeOver('p2');
      const [owned] = await store.registry.listOwned('p2');
      expect(owned).toMatchObject({ run: { key: run.key, process: 'p2' }, epoch: 2, nextSeq: 2 });
      expect(await store.registry.listOwned('p1')).toEqual([]);
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('zombie') }])).toEqual(['fenced']);
      expect(await store.log.append([{ run: run.key, epoch: 2, seq: 2, events: deltas('b') }])).toEqual(['ok']);
    });
  });
}
