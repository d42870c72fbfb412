import { describe, expect, it } from 'vitest';

import { answer, threadId, yes } from './answers.ts';
import type { Contract } from './contract.ts';
import { approval, ending, finish, paused, pausing, queue, start, getStatus } from './samples.ts';

/** When the continuation of an answered run may start. */
export function continuationTests(contract: Contract): void {
  describe('continuations', () => {
    it('queues the continuation while another branch has a live run', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const other = await start(store, '2', { parentId: null });
      const { continuation } = await answer(store, run.key, [yes('q1')]);
      expect(continuation).toMatchObject({ created: true, run: { state: 'queued', resumes: run.key } });
      expect(continuation).not.toHaveProperty('ownership');
      await finish(store, other, ending());
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toMatchObject({ run: { runId: 'run_next' } });
    });

    it('returns the place in the message at which each run paused', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const waitingFor = [{ type: 'question' as const, questionId: 'q1' }];
      const end = pausing(['q1']);
      const runs = [{ runId: 'run_1', outcome: 'paused' as const, waitingFor, parts: 1 }];
      await finish(store, started, { ...end, content: { ...end.content, runs } });
      const { continuation } = await answer(store, started.run.key, [yes('q1')]);
      const text = { type: 'text' as const, text: 'Done' };
      const parts = [...end.content.parts, text];
      const continued = {
        format: 2 as const,
        parts,
        runs: [...runs, { runId: 'run_next', outcome: 'complete' as const }],
      };
      await finish(store, continuation!.ownership!, ending({ content: continued }));
      const message = await store.getMessage({ threadId, messageId: 'a_1' });
      expect(message?.content.runs).toMatchObject([{ runId: 'run_1', parts: 1 }, { runId: 'run_next' }]);
    });

    it('starts the continuation before runs that are queued behind its message', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.openDecisions(run.key, epoch, [approval('q1').decision]);
      await queue(store, '2');
      await answer(store, run.key, [yes('q1')]);
      const end = pausing(['q1'], { continuation: { runId: 'run_next', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({ continuation: { run: { runId: 'run_next' } } });
      expect(await store.registry.promote(store.scope, threadId, 'p1')).toBeNull();
    });

    it('does not continue a run that was asked to stop', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.openDecisions(run.key, epoch, [approval('q1').decision]);
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
      expect(await getStatus(store, 'a_1')).toBe('aborted');
    });

    it('cancels open questions when a run pauses after it was asked to stop', async () => {
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

    it('does not continue a stopped run whose questions were all answered before the stop', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const { run, epoch } = started;
      await store.registry.openDecisions(run.key, epoch, [approval('q1').decision]);
      await answer(store, run.key, [yes('q1')]);
      await finish(store, started, pausing(['q1']));
      expect(await store.registry.stop(store.scope, run.key)).toBe('cancelled');
      expect(await store.registry.stop(store.scope, run.key)).toBe('ended');
      expect(await getStatus(store, 'a_1')).toBe('aborted');
      expect(await answer(store, run.key, [yes('q1')])).not.toHaveProperty('continuation');
    });

    it('queues the continuation behind runs that wait for the thread on other branches', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      await store.registry.openDecisions(run.key, epoch, [approval('q1').decision]);
      await queue(store, '2', { parentId: null });
      await queue(store, '3', { parentId: 'a_1' });
      await answer(store, run.key, [yes('q1')]);
      const end = pausing(['q1'], { continuation: { runId: 'run_next', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({ result: 'ok', message: { status: 'streaming', runId: 'run_next' } });
      expect(result).not.toHaveProperty('continuation');
      // A run queued behind the message itself starts after the continuation that ends the message.
      for (const runId of ['run_2', 'run_next', 'run_3']) {
        const promoted = await store.registry.promote(store.scope, threadId, 'p1');
        expect(promoted).toMatchObject({ run: { runId } });
        await finish(store, promoted!, ending());
      }
    });

    it('queues the continuation of an answer behind runs that wait for the thread', async () => {
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
