/* oxlint-disable no-await-in-loop -- what is tested is one step after the other */
import { describe, expect, it } from 'vitest';

import { answer, threadId, yes } from './answers.ts';
import type { Contract } from './contract.ts';
import { approval, ending, finish, paused, pausing, queue, start, statusOf } from './samples.ts';

/** When the run that goes on after an answer gets its turn, and when there is none. */
export function continuationTests(contract: Contract): void {
  describe('continuations', () => {
    it('queues the continuation where another branch has a live run', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const other = await start(store, '2', { parentId: null });
      const { continuation } = await answer(store, run.key, [yes('q1')]);
      expect(continuation).toMatchObject({ created: true, run: { state: 'queued', resumes: run.key } });
      expect(continuation).not.toHaveProperty('ownership');
      await finish(store, other, ending());
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { runId: 'run_next' } });
    });

    it('the continuation comes before what is queued behind the message', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.ask(run.key, epoch, [approval('q1').decision]);
      await queue(store, '2');
      await answer(store, run.key, [yes('q1')]);
      const end = pausing(['q1'], { continuation: { runId: 'run_next', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({ continuation: { run: { runId: 'run_next' } } });
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toBeNull();
    });

    it('a run that was asked to stop does not go on, ahead of what replaces it or at all', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.ask(run.key, epoch, [approval('q1').decision]);
      await answer(store, run.key, [yes('q1')]);
      await queue(store, '2', { busy: 'replace' });
      const end = pausing(['q1'], { continuation: { runId: 'run_next', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({
        result: 'ok',
        message: { status: 'aborted', content: { parts: [{ approval: { answer: { approved: true } } }] } },
      });
      expect(result).not.toHaveProperty('continuation');
      expect(await store.registry.finish(run.key, epoch, end)).toEqual(result);
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'paused' });
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { runId: 'run_2' } });
      const late = await answer(store, run.key, [yes('q1')]);
      expect(late.verdicts).toEqual([{ id: 'q1', result: 'duplicate' }]);
      expect(late).not.toHaveProperty('continuation');
      expect(await statusOf(store, 'a_1')).toBe('aborted');
    });

    it('a run that was asked to stop and pauses waits for nothing: what is open is cancelled', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.stop(store.scope, run.key, 'enough');
      const message = await finish(store, { run, epoch, nextSeq: 1 }, pausing(['q1']));
      expect(message).toMatchObject({
        status: 'aborted',
        content: { parts: [{ state: 'call', approval: { answer: { cancelled: true, reason: 'enough' } } }] },
      });
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([{ id: 'q1', state: 'cancelled' }]);
    });

    it('stopped while paused, with all answered and not yet continued: it does not go on', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const { run, epoch } = started;
      await store.registry.ask(run.key, epoch, [approval('q1').decision]);
      await answer(store, run.key, [yes('q1')]);
      await finish(store, started, pausing(['q1']));
      expect(await store.registry.stop(store.scope, run.key)).toBe('cancelled');
      expect(await store.registry.stop(store.scope, run.key)).toBe('ended');
      expect(await statusOf(store, 'a_1')).toBe('aborted');
      expect(await answer(store, run.key, [yes('q1')])).not.toHaveProperty('continuation');
    });

    it('the continuation queues behind those who wait for the thread on other branches', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.ask(run.key, epoch, [approval('q1').decision]);
      await queue(store, '2', { parentId: null });
      await queue(store, '3', { parentId: 'a_1' });
      await answer(store, run.key, [yes('q1')]);
      const end = pausing(['q1'], { continuation: { runId: 'run_next', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({ result: 'ok', message: { status: 'streaming', runId: 'run_next' } });
      expect(result).not.toHaveProperty('continuation');
      // Who waits behind the message itself comes after the run that ends it.
      for (const runId of ['run_2', 'run_next', 'run_3']) {
        const promoted = await store.registry.promote(store.scope, threadId, 'p1');
        expect(promoted).toMatchObject({ run: { runId } });
        await finish(store, promoted!, ending());
      }
    });

    it('an answer does not overtake those who wait for the thread either', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      await queue(store, '2', { parentId: null });
      await finish(store, started, pausing(['q1']));
      const { continuation } = await answer(store, started.run.key, [yes('q1')]);
      expect(continuation).toMatchObject({ created: true, run: { state: 'queued' } });
      expect(continuation).not.toHaveProperty('ownership');
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { runId: 'run_2' } });
    });
  });
}
