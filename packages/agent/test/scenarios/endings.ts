import { seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, openTestStore, joinText, type StoreKind } from '../test-stores.ts';
import { steppedModel } from '../stepped-model.ts';

/** Creates a source that asks one question, and waits for the answer in its process or pauses. */
function asking(pauses: 'live' | 'replay', expiresAt?: string): AgentSource {
  async function* ask(): AsyncGenerator<AgentEvent> {
    yield { type: 'question', questionId: 'q', kind: 'input', ...(expiresAt !== undefined && { expiresAt }) };
    if (pauses === 'live') await new Promise(() => {});
    yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] };
  }
  return {
    name: 'asking',
    pauses,
    run: (run, { signal }) =>
      sourceStream(
        () => (run.message ? respond() : ask()),
        seal(run, () => undefined),
        { signal },
      ),
  };
}

async function* respond(): AsyncGenerator<AgentEvent> {
  yield { type: 'text-start', id: 'a' };
  yield { type: 'text-delta', id: 'a', delta: 'Next' };
  yield { type: 'run-end', outcome: 'complete' };
}

/** Runs, questions and queues after a process died, a question expired, or a thread was deleted. */
export function endings(on: StoreKind): void {
  describe('endings', () => {
    it('ends a live-waiting run as lost when its process dies, and expires its question', async () => {
      const shared = await openTestStore(on);
      const one = shared.process({ process: 'owner', heartbeatMs: 1e6, sweepMs: 1e6 });
      const agent = new Agent({ source: asking('live'), ...one });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      for await (const event of run.events) if (event.type === 'question') break;
      await one.store.registry.retire('owner');
      const other = new Agent({ source: asking('live'), ...shared.process() });
      const found = (await other.attach(run.runId))!;
      expect((await collect(found.events)).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
      const late = await other.answer(run.runId, [{ questionId: 'q', value: 'yes' }]);
      expect(late.verdicts).toMatchObject([{ result: 'expired' }]);
      const { key } = await found.record();
      await expect.poll(() => one.host.flusher.writes(key)).toBe(false);
    });

    it('starts a queued run in another process when the process of the run before it died', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const request = { threadId: 't', agent: 'a', process: 'dead', busy: 'queue', pending: 'supersede' } as const;
      await store.registry.heartbeat('dead');
      await store.registry.start(store.scope, { ...request, runId: 'r1', messageId: 'm1' });
      const content = { format: 2 as const, parts: [{ type: 'text' as const, text: 'Go' }] };
      const message = { id: 'u2', threadId: 't', role: 'user', type: 'text', createdAt: new Date(), content } as const;
      const asked = { ...request, message };
      const queued = await store.registry.start(store.scope, { ...asked, runId: 'r2', messageId: 'm2' });
      expect(queued.type).toBe('queued');
      await store.registry.retire('dead');
      const model = steppedModel(() => [...text('0', 'At last'), finish()]);
      const agent = new Agent({ name: 'a', model, store, host });
      expect(joinText(await collect((await agent.attach('r2'))!.events))).toBe('At last');
    });

    it('refuses an answer after the question expired, and aborts the message', async () => {
      const source = asking('replay', new Date(Date.now() + 300).toISOString());
      const agent = new Agent({ source, ...(await openTestStore(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      // On a slow machine the question may have expired before the message is read.
      await run.message;
      const { threadId, messageId } = run;
      await expect.poll(async () => (await agent.store.getMessage({ threadId, messageId }))?.status).toBe('aborted');
      const late = await agent.answer(run.runId, [{ questionId: 'q', value: 'yes' }]);
      expect(late).toMatchObject({ verdicts: [{ result: 'expired' }], open: [] });
      expect(late.run).toBeUndefined();
    });

    it('leaves a question open when a run starts on another branch', async () => {
      const agent = new Agent({ source: asking('replay'), ...(await openTestStore(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      await run.message;
      const branch = await agent.stream({ threadId: 't', message: 'Elsewhere', parentId: null, pending: 'reject' });
      expect((await branch.message).status).toBe('paused');
      const answered = await agent.answer({ runId: run.runId, threadId: 't' }, [{ questionId: 'q', value: 'yes' }]);
      expect(answered.verdicts).toMatchObject([{ result: 'accepted' }]);
      expect(joinText(await collect((await agent.attach(answered.run!.runId))!.events))).toBe('Next');
    });

    it('aborts the run of a deleted thread, and does not create the thread again', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const model = steppedModel(async function* () {
        yield* text('0', 'Half').slice(0, 2);
        await new Promise(() => {});
      });
      const agent = new Agent({ model, store, host });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      const { key } = await run.record();
      const events: AgentEvent[] = [];
      for await (const event of run.events) {
        events.push(event);
        if (event.type === 'text-delta') await store.deleteThread({ threadId: 't' });
      }
      expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted' });
      await expect(collect(run.events)).rejects.toMatchObject({ code: 'not-found' });
      await expect.poll(() => host.flusher.writes(key)).toBe(false);
      expect(await store.getThreadById({ threadId: 't' })).toBeNull();
    });
  });
}
