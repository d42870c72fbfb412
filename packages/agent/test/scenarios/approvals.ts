import { canonical, check } from '@intertie/conformance';
import type { AgentEvent, EventOf, Store } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import type { RunHost } from '../../src/execution/run-host.ts';
import { collect, openTestStore, type StoreKind } from '../test-stores.ts';

/** Creates an agent with a tool that needs approval. `paid` has the calls that were executed. */
function payer(at: { store: Store; host: RunHost }, calls: string[] = ['c1']) {
  const paid: string[] = [];
  const model = scriptedModel(
    [...calls.map((id) => call(id, 'pay', { to: id })), finish('tool-calls')],
    [...text('0', 'Done'), finish()],
  );
  const pay = {
    inputSchema: z.object({ to: z.string() }),
    needsApproval: true,
    execute: async ({ to }: { to: string }) => {
      paid.push(to);
      return 'paid';
    },
  };
  const agent = new Agent({ name: 'payer', model, ...at, tools: { pay } });
  return { agent, paid, model };
}

async function ask({ agent }: ReturnType<typeof payer>) {
  const run = await agent.stream({ threadId: 'money', message: 'Pay them' });
  const events = await collect(run.events);
  const questions = events.filter((event): event is EventOf<'question'> => event.type === 'question');
  expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'paused' });
  return { run, questions: questions.map(({ questionId }) => questionId), events };
}

export function approvals(on: StoreKind): void {
  describe('approvals', () => {
    it('executes an approved tool once, and continues the same message', async () => {
      const at = (await openTestStore(on)).process();
      const { agent, paid, model } = payer(at);
      const { run, questions } = await ask({ agent, paid, model });
      expect(paid).toEqual([]);
      const answered = await agent.answer(run.runId, [{ questionId: questions[0]!, approved: true }], 'ann');
      expect(answered).toMatchObject({
        verdicts: [{ result: 'accepted' }],
        open: [],
        run: { messageId: run.messageId },
      });
      const next = (await agent.attach(answered.run!.runId))!;
      const events = await collect(next.events);
      expect(check(canonical, events).violations).toEqual([]);
      expect(events.slice(0, 2)).toMatchObject([
        { type: 'run-start', resumes: run.runId, messageId: run.messageId },
        { type: 'message-snapshot' },
      ]);
      expect(paid).toEqual(['c1']);
      expect(await next.message).toMatchObject({
        id: run.messageId,
        status: 'complete',
        content: {
          parts: [
            { state: 'result', result: 'paid', approval: { answer: { approved: true } } },
            { type: 'text', text: 'Done' },
          ],
        },
      });
    });

    it('does not execute a denied tool, and sends the reason to the model', async () => {
      const { agent, paid, model } = payer((await openTestStore(on)).process());
      const { run, questions } = await ask({ agent, paid, model });
      const answer = { questionId: questions[0]!, approved: false, reason: 'Too much' };
      const { run: next } = await agent.answer(run.runId, [answer]);
      const message = await (await agent.attach(next!.runId))!.message;
      expect(message).toMatchObject({
        status: 'complete',
        content: { parts: [{ state: 'denied' }, { text: 'Done' }] },
      });
      expect(paid).toEqual([]);
      expect(JSON.stringify(model.doStreamCalls[1]!.prompt)).toContain('Too much');
    });

    it('accepts one of several concurrent answers, and creates one continuation', async () => {
      const shared = await openTestStore(on);
      const one = payer(shared.process());
      const two = payer(shared.process());
      const { run, questions } = await ask(one);
      const yes = { questionId: questions[0]!, approved: true };
      const [a, b, c] = await Promise.all([
        one.agent.answer(run.runId, [yes], 'ann'),
        two.agent.answer(run.runId, [yes], 'bob'),
        two.agent.answer(run.runId, [{ questionId: questions[0]!, approved: false }], 'eve'),
      ]);
      const results = [a, b, c].map(({ verdicts }) => verdicts[0]!.result).toSorted();
      expect([
        ['accepted', 'conflict', 'duplicate'],
        ['accepted', 'conflict', 'conflict'],
      ]).toContainEqual(results);
      const again = await one.agent.answer(run.runId, [yes]);
      await (await one.agent.attach(again.run!.runId))!.message;
      const runs = await one.agent.store.registry.listRuns(one.agent.store.scope, { threadId: 'money' });
      expect(runs).toHaveLength(2);
      expect(one.paid.length + two.paid.length).toBeLessThanOrEqual(1);
    });

    it('executes nothing before the last of two approvals, even if another process receives it', async () => {
      const shared = await openTestStore(on);
      const one = payer(shared.process(), ['c1', 'c2']);
      const { run, questions } = await ask(one);
      expect(questions).toHaveLength(2);
      const first = await one.agent.answer(run.runId, [{ questionId: questions[0]!, approved: true }]);
      expect(first.run).toBeUndefined();
      expect(first.open.map(({ id }) => id)).toEqual([questions[1]]);
      await one.agent.close();
      const two = payer(shared.process(), []);
      two.model.doStream = scriptedModel([...text('0', 'Done'), finish()]).doStream;
      const last = await two.agent.answer(run.runId, [{ questionId: questions[1]!, approved: true }]);
      const message = await (await two.agent.attach(last.run!.runId))!.message;
      expect(message.content.parts).toMatchObject([{ state: 'result' }, { state: 'result' }, { text: 'Done' }]);
      expect([...one.paid, ...two.paid].toSorted()).toEqual(['c1', 'c2']);
    });

    it('continues a run that was answered before it paused', async () => {
      const { agent, paid, model } = payer((await openTestStore(on)).process());
      const run = await agent.stream({ threadId: 'money', message: 'Pay them' });
      const events: AgentEvent[] = [];
      let answered: Awaited<ReturnType<typeof agent.answer>> | undefined;
      for await (const event of run.events) {
        events.push(event);
        if (event.type === 'question') {
          answered = await agent.answer(run.runId, [{ questionId: event.questionId, approved: true }]);
        }
      }
      expect(answered).toMatchObject({ verdicts: [{ result: 'accepted' }], open: [] });
      const message = await (await agent.attach(answered!.run!.runId))!.message;
      expect(message.status).toBe('complete');
      expect(paid).toEqual(['c1']);
      expect(model.doStreamCalls).toHaveLength(2);
    });

    it('supersedes an open approval when a new message starts a run', async () => {
      const { agent, paid, model } = payer((await openTestStore(on)).process());
      const { run, questions } = await ask({ agent, paid, model });
      const message = toMessage('No');
      await expect(agent.start({ threadId: 'money', message, pending: 'reject' })).rejects.toMatchObject({
        code: 'pending',
      });
      expect((await agent.generate({ threadId: 'money', message: 'Forget it' })).text).toBe('Done');
      const late = await agent.answer(run.runId, [{ questionId: questions[0]!, approved: true }]);
      expect(late.verdicts).toMatchObject([{ result: 'cancelled' }]);
      expect(paid).toEqual([]);
      expect((await agent.store.getMessage({ threadId: 'money', messageId: run.messageId }))?.status).toBe('aborted');
    });

    it('accepts the first result of a client tool, and refuses a different one', async () => {
      const at = (await openTestStore(on)).process();
      const model = scriptedModel([call('c1', 'where', {}), finish('tool-calls')], [...text('0', 'Here'), finish()]);
      const agent = new Agent({ model, ...at });
      const tools = [{ name: 'where', description: 'Where the user is' }];
      const run = await agent.stream({ threadId: 't', message: 'Where am I?', tools });
      expect(await run.message).toMatchObject({ status: 'paused' });
      const answer = { toolCallId: 'c1', status: 'ok', output: 'Rome' } as const;
      const [first, second] = [
        await agent.answer(run.runId, [answer]),
        await agent.answer(run.runId, [{ ...answer, output: 'Oslo' }]),
      ];
      expect(first.verdicts[0]!.result).toBe('accepted');
      expect(second.verdicts[0]!.result).toBe('conflict');
      const message = await (await agent.attach(second.run!.runId))!.message;
      expect(message.content.parts).toMatchObject([{ state: 'result', result: 'Rome' }, { text: 'Here' }]);
    });
  });
}

const toMessage = (content: string) => ({
  content: { format: 2 as const, parts: [{ type: 'text' as const, text: content }] },
});
