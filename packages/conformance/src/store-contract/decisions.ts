import type { Answer, MessagePart, Store } from '@intertie/core';
import type { DecisionRequest, ToolAnswer } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { answer, no, threadId, yes } from './answers.ts';
import { storeError, type Contract } from './contract.ts';
import { approval, content, ending, finish, paused, pausing, start, getStatus } from './samples.ts';

async function getParts(store: Store): Promise<MessagePart[] | undefined> {
  return (await store.getMessage({ threadId, messageId: 'a_1' }))?.content.parts;
}

export function decisionTests(contract: Contract): void {
  describe('decisions', () => {
    it('stores the decisions that a paused run waits for', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1', 'q2');
      const common = { run: run.key, runId: 'run_1', threadId, messageId: 'a_1', state: 'open' };
      expect(await store.registry.listDecisions(store.scope, { threadId, run: run.key, state: 'open' })).toEqual([
        { ...approval('q1').decision, ...common },
        { ...approval('q2').decision, ...common },
      ]);
      expect(await store.registry.listDecisions(store.scope, { threadId: 'thread_2' })).toEqual([]);
    });

    it('continues the same message in a new run once the last question is answered', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const result = await answer(store, run.key, [{ ...yes('q1'), reason: 'fine' }], {
        by: 'ada',
        continuation: { runId: 'run_2', process: 'p2', input: { n: 1 } },
      });
      expect(result).toMatchObject({ verdicts: [{ id: 'q1', result: 'accepted' }], open: [], live: false });
      expect(result.continuation).toMatchObject({
        created: true,
        run: {
          runId: 'run_2',
          messageId: 'a_1',
          agent: 'helper',
          state: 'running',
          resumes: run.key,
          process: 'p2',
          input: { n: 1 },
        },
        ownership: { epoch: 1, nextSeq: 1, run: { runId: 'run_2' } },
      });
      expect(await store.getMessage({ threadId, messageId: 'a_1' })).toMatchObject({
        status: 'streaming',
        runId: 'run_2',
      });
      expect(await getParts(store)).toMatchObject([{ approval: { answer: { approved: true, reason: 'fine' } } }]);
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([
        { id: 'q1', state: 'answered', answer: { approved: true }, answeredBy: 'ada', answeredAt: expect.any(Date) },
      ]);
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'paused' });
      await finish(store, result.continuation!.ownership!, ending());
      expect(await getStatus(store, 'a_1')).toBe('complete');
    });

    it('returns the continuation for a duplicate answer and a conflict for a different one', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      const first = await answer(store, run.key, [yes('q1')], { by: 'ada' });
      const continuation = { runId: 'run_other', process: 'p1' };
      const again = await answer(store, run.key, [{ ...yes('q1'), by: 'bob' }], { by: 'bob', continuation });
      expect(again.verdicts).toEqual([{ id: 'q1', result: 'duplicate' }]);
      expect(again.continuation).toEqual({ run: first.continuation!.run, created: false });
      const other = await answer(store, run.key, [no('q1')]);
      expect(other.verdicts).toEqual([
        { id: 'q1', result: 'conflict', answeredBy: 'ada', answeredAt: expect.any(Date) },
      ]);
      expect(await getParts(store)).toMatchObject([{ approval: { answer: { approved: true } } }]);
    });

    it('creates one continuation for concurrent answers', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1', 'q2');
      const given = [[yes('q1')], [yes('q1')], [no('q2')], [no('q2')]];
      const results = await Promise.all(
        given.map((answers, n) =>
          answer(store, run.key, answers, { continuation: { runId: `run_${n + 2}`, process: 'p1' } }),
        ),
      );
      const verdicts = results.flatMap((result) => result.verdicts.map((verdict) => verdict.result));
      expect(verdicts.toSorted()).toEqual(['accepted', 'accepted', 'duplicate', 'duplicate']);
      expect(results.filter((result) => result.continuation?.created)).toHaveLength(1);
      expect(await store.registry.listRuns(store.scope, { threadId })).toHaveLength(2);
    });

    it('stores a partial answer, keeps the other questions open, and starts no run', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1', 'q2');
      const first = await answer(store, run.key, [yes('q2'), yes('q9')]);
      expect(first).toMatchObject({
        verdicts: [
          { id: 'q2', result: 'accepted' },
          { id: 'q9', result: 'unknown' },
        ],
        open: [{ id: 'q1' }],
        live: false,
      });
      expect(first.continuation).toBeUndefined();
      expect(await getStatus(store, 'a_1')).toBe('paused');
      expect(await getParts(store)).toMatchObject([{ approval: {} }, { approval: { answer: { approved: true } } }]);
      expect((await answer(store, run.key, [no('q1')])).continuation?.created).toBe(true);
    });

    it('continues at the pause if all questions were answered before it', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.registry.openDecisions(run.key, epoch, [approval('q1').decision])).toBe('ok');
      const early = await answer(store, run.key, [yes('q1')]);
      expect(early).toMatchObject({ verdicts: [{ result: 'accepted' }], open: [], live: true });
      expect(early.continuation).toBeUndefined();
      expect(await getParts(store)).toEqual([]);
      const end = pausing(['q1'], { continuation: { runId: 'run_2', process: 'p1' } });
      const result = await store.registry.finish(run.key, epoch, end);
      expect(result).toMatchObject({
        result: 'ok',
        continuation: { run: { runId: 'run_2', resumes: run.key, messageId: 'a_1' }, epoch: 1, nextSeq: 1 },
        message: { status: 'streaming', content: { parts: [{ approval: { answer: { approved: true } } }] } },
      });
      // A repeated call after a lost acknowledgement still returns the continuation.
      expect(await store.registry.finish(run.key, epoch, end)).toEqual(result);
      expect(await store.registry.listRuns(store.scope, { threadId })).toHaveLength(2);
    });

    it('starts the continuation with the next answer if the paused run named none', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      await store.registry.openDecisions(started.run.key, started.epoch, [approval('q1').decision]);
      await answer(store, started.run.key, [yes('q1')]);
      await finish(store, started, pausing(['q1']));
      expect(await getStatus(store, 'a_1')).toBe('paused');
      const again = await answer(store, started.run.key, [yes('q1')]);
      expect(again).toMatchObject({ verdicts: [{ result: 'duplicate' }], continuation: { created: true } });
    });

    it('asks a question once if the call is repeated', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const { decision } = approval('q1');
      await store.registry.openDecisions(run.key, epoch, [decision]);
      await answer(store, run.key, [yes('q1')]);
      await store.registry.openDecisions(run.key, epoch, [decision, approval('q2').decision]);
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([{ state: 'answered' }, { state: 'open' }]);
    });

    it('rejects an answer after expiry and aborts the message', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const started = await start(store, '1');
      const { run } = started;
      const later = approval('q2').decision;
      const end = pausing(['q1', 'q2'], {}, new Date(clock.now() + clock.leaseMs));
      await finish(store, started, { ...end, decisions: [end.decisions![0]!, later] });
      expect(await store.registry.expire()).toBe(0);
      await clock.advance(clock.leaseMs + 100);
      expect((await answer(store, run.key, [yes('q1')])).verdicts).toEqual([{ id: 'q1', result: 'expired' }]);
      expect(await store.registry.expire()).toBe(1);
      expect(await store.registry.expire()).toBe(0);
      expect(await getStatus(store, 'a_1')).toBe('aborted');
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([
        { id: 'q1', state: 'expired' },
        { id: 'q2', state: 'cancelled' },
      ]);
      const late = await answer(store, run.key, [yes('q1'), yes('q2')]);
      expect(late.verdicts).toEqual([
        { id: 'q1', result: 'expired' },
        { id: 'q2', result: 'cancelled' },
      ]);
      expect(late.continuation).toBeUndefined();
    });

    it('aborts the message if a question expired before the run paused on it', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const started = await start(store, '1');
      const expiresAt = new Date(clock.now() + clock.leaseMs);
      await store.registry.openDecisions(started.run.key, started.epoch, [approval('q1', expiresAt).decision]);
      await clock.advance(clock.leaseMs + 100);
      expect(await store.registry.expire()).toBe(1);
      expect(await getStatus(store, 'a_1')).toBe('streaming');
      await finish(store, started, pausing(['q1']));
      expect(await getStatus(store, 'a_1')).toBe('aborted');
    });

    it('cancels open questions and aborts the message when a paused run is stopped', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      expect(await store.registry.stop(store.scope, run.key)).toBe('cancelled');
      expect(await store.registry.stop(store.scope, run.key)).toBe('ended');
      expect(await getStatus(store, 'a_1')).toBe('aborted');
      expect((await answer(store, run.key, [yes('q1')])).verdicts).toEqual([{ id: 'q1', result: 'cancelled' }]);
      expect(await getParts(store)).toMatchObject([{ state: 'call', approval: { answer: { cancelled: true } } }]);
    });

    it('cancels questions that the run asked but does not wait for at its end', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const { run, epoch } = started;
      await store.registry.openDecisions(run.key, epoch, [approval('q1').decision, approval('q2').decision]);
      await finish(store, started, pausing(['q2']));
      expect(await store.registry.listDecisions(store.scope)).toMatchObject([
        { state: 'cancelled' },
        { state: 'open' },
      ]);
      const next = await answer(store, run.key, [yes('q2')]);
      const { ownership } = next.continuation!;
      await store.registry.openDecisions(ownership!.run.key, 1, [approval('q3').decision]);
      await finish(store, ownership!, ending());
      expect(await store.registry.listDecisions(store.scope, { state: 'open' })).toEqual([]);
    });

    it.each(['lost', 'agent-gone', 'too-many-attempts'])(
      'expires the question of a run that ends as `%s`',
      async (code) => {
        const store = await contract.open();
        const { run, epoch } = await start(store, '1');
        await store.registry.openDecisions(run.key, epoch, [approval('q1').decision]);
        await store.registry.setWaiting(run.key, epoch, true);
        await store.registry.retire('p1');
        const [taken] = await store.registry.takeOver('p2');
        const outcome = { outcome: 'error', error: { message: 'The process is gone.', code } } as const;
        await finish(store, taken!, ending({ outcome }));
        expect(await store.registry.listDecisions(store.scope)).toMatchObject([{ state: 'expired' }]);
        expect(await getStatus(store, 'a_1')).toBe('error');
      },
    );

    it('continues with the first result of a client tool', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const call = { toolCallId: 'c1', toolName: 'locate', executor: 'client' as const };
      const decision: DecisionRequest = {
        id: 'c1',
        kind: 'client-tool',
        toolCallId: 'c1',
        toolName: 'locate',
        input: {},
      };
      await finish(
        store,
        started,
        ending({
          outcome: { outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c1' }] },
          content: content({ type: 'tool-invocation', ...call, state: 'call', args: {} }),
          decisions: [decision],
        }),
      );
      const early: ToolAnswer = { toolCallId: 'c1', status: 'ok', output: 'soon', preliminary: true };
      await expect(answer(store, started.run.key, [early])).rejects.toMatchObject(storeError('invalid'));
      const first = await answer(store, started.run.key, [{ toolCallId: 'c1', status: 'ok', output: { lat: 1 } }]);
      expect(first).toMatchObject({ verdicts: [{ id: 'c1', result: 'accepted' }], continuation: { created: true } });
      const second = await answer(store, started.run.key, [{ toolCallId: 'c1', status: 'ok', output: { lat: 2 } }]);
      expect(second.verdicts).toMatchObject([{ id: 'c1', result: 'conflict' }]);
      expect(await getParts(store)).toMatchObject([{ state: 'result', result: { lat: 1 } }]);
    });

    it('answers a question that belongs to no tool call', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const question = { questionId: 'q1', kind: 'input' as const, message: 'How many?', schema: { type: 'number' } };
      await finish(
        store,
        started,
        ending({
          outcome: { outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q1' }] },
          content: content({ type: 'question', id: 'p1', ...question }),
          decisions: [{ id: 'q1', kind: 'input', question }],
        }),
      );
      const result = await answer(store, started.run.key, [{ questionId: 'q1', value: 3 }]);
      expect(result.continuation?.created).toBe(true);
      expect(await getParts(store)).toMatchObject([{ ...question, answer: { value: 3 } }]);
    });

    it('rejects a continuation with a used run id without storing the answer', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1');
      await expect(
        answer(store, run.key, [yes('q1')], { continuation: { runId: 'run_1', process: 'p1' } }),
      ).rejects.toMatchObject(storeError('invalid'));
      expect(await store.registry.listDecisions(store.scope, { state: 'open' })).toHaveLength(1);
    });

    it('copies answers and decisions on write and on read', async () => {
      const store = await contract.open();
      const { run } = await paused(store, '1', 'q1', 'q2');
      const given: Answer = { questionId: 'q1', value: { n: 1 } };
      await answer(store, run.key, [given]);
      Object.assign(given.value as object, { n: 2 });
      const [decision] = await store.registry.listDecisions(store.scope);
      expect(decision?.answer).toMatchObject({ value: { n: 1 } });
      Object.assign(decision!, { state: 'open' });
      expect((await store.registry.listDecisions(store.scope))[0]?.state).toBe('answered');
    });
  });
}
