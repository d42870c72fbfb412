import { seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, openStage, saidIn, type StageName } from '../stage.ts';
import { steppedModel } from '../stepped-model.ts';

/** A source that asks one question, and waits for the answer inside or outside its process. */
function asking(pauses: 'live' | 'replay', expiresAt?: string): AgentSource {
  async function* say(): AsyncGenerator<AgentEvent> {
    yield { type: 'question', questionId: 'q', kind: 'input', ...(expiresAt !== undefined && { expiresAt }) };
    if (pauses === 'live') await new Promise(() => {});
    yield { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] };
  }
  return {
    name: 'asking',
    pauses,
    run: (run, { signal }) =>
      sourceStream(
        () => (run.message ? said() : say()),
        seal(run, () => undefined),
        { signal },
      ),
  };
}

async function* said(): AsyncGenerator<AgentEvent> {
  yield { type: 'text-start', id: 'a' };
  yield { type: 'text-delta', id: 'a', delta: 'Next' };
  yield { type: 'run-end', outcome: 'complete' };
}

/** What becomes of runs, questions and queues when somebody is gone, or too late. */
export function endings(on: StageName): void {
  describe('endings', () => {
    it('live-wait owner killed: the run is lost, its question expired, and the old owner falls silent', async () => {
      const stage = await openStage(on);
      const one = stage.process({ process: 'owner', heartbeatMs: 1e6, sweepMs: 1e6 });
      const agent = new Agent({ source: asking('live'), ...one });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      for await (const event of run.events) if (event.type === 'question') break;
      await one.store.registry.retire('owner');
      const other = new Agent({ source: asking('live'), ...stage.process() });
      const found = (await other.attach(run.runId))!;
      expect((await collect(found.events)).at(-1)).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
      const late = await other.answer(run.runId, [{ questionId: 'q', value: 'yes' }]);
      expect(late.verdicts).toMatchObject([{ result: 'expired' }]);
      const { key } = await found.record();
      await expect.poll(() => one.host.flusher.writes(key)).toBe(false);
    });

    it('queued run whose finisher died: the sweeper of another process starts it', async () => {
      const { store, host } = (await openStage(on)).process();
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
      expect(saidIn(await collect((await agent.attach('r2'))!.events))).toBe('At last');
    });

    it('answer after expiry: too late, and the message is aborted', async () => {
      const source = asking('replay', new Date(Date.now() + 300).toISOString());
      const agent = new Agent({ source, ...(await openStage(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      // On a busy machine its time may be over before anybody has looked.
      await run.message;
      const { threadId, messageId } = run;
      await expect.poll(async () => (await agent.store.getMessage({ threadId, messageId }))?.status).toBe('aborted');
      const late = await agent.answer(run.runId, [{ questionId: 'q', value: 'yes' }]);
      expect(late).toMatchObject({ verdicts: [{ result: 'expired' }], open: [] });
      expect(late.run).toBeUndefined();
    });

    it('a run on another branch leaves what is asked open', async () => {
      const agent = new Agent({ source: asking('replay'), ...(await openStage(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'Go' });
      await run.message;
      const branch = await agent.stream({ threadId: 't', message: 'Elsewhere', parentId: null, pending: 'reject' });
      expect((await branch.message).status).toBe('paused');
      const answered = await agent.answer({ runId: run.runId, threadId: 't' }, [{ questionId: 'q', value: 'yes' }]);
      expect(answered.verdicts).toMatchObject([{ result: 'accepted' }]);
      expect(saidIn(await collect((await agent.attach(answered.run!.runId))!.events))).toBe('Next');
    });

    it('a thread that is deleted under its run: the run falls silent, and the thread stays away', async () => {
      const { store, host } = (await openStage(on)).process();
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
