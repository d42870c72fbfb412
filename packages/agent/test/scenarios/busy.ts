import type { AgentSource } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, gate, openStage, saidIn, type StageName } from '../stage.ts';
import { steppedModel } from '../stepped-model.ts';

const never = new Promise<void>(() => {});

/** The first turn waits to be let go; the others speak at once. */
function slowFirst() {
  const goOn = gate();
  const begun = gate();
  const model = steppedModel(
    async function* () {
      yield* text('0', 'First').slice(0, 2);
      begun.open();
      await goOn.opened;
      yield* text('0').slice(1);
      yield finish();
    },
    () => [...text('0', 'Next'), finish()],
  );
  return { model, goOn, begun };
}

export function busy(on: StageName): void {
  describe('a second message', () => {
    it('reject: it is refused with the run that is live', async () => {
      const { model, goOn, begun } = slowFirst();
      const agent = new Agent({ model, ...(await openStage(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      await expect(agent.stream({ threadId: 't', message: 'Two' })).rejects.toMatchObject({
        code: 'busy',
        refusal: { live: { runId: run.runId } },
      });
      goOn.open();
      expect((await run.message).status).toBe('complete');
    });

    it('queue: it waits for the end of the first, also of another process', async () => {
      const stage = await openStage(on);
      const { model, goOn, begun } = slowFirst();
      const one = new Agent({ model, ...stage.process() });
      const two = new Agent({ model, ...stage.process() });
      const first = await one.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      const second = await two.stream({ threadId: 't', message: 'Two', busy: 'queue' });
      const third = await one.stream({ threadId: 't', message: 'Three', busy: 'queue' });
      expect((await second.record()).state).toBe('queued');
      await third.stop();
      expect((await collect(third.events)).at(-1)).toMatchObject({ outcome: 'aborted' });
      goOn.open();
      expect(saidIn(await collect(second.events))).toBe('Next');
      expect((await first.message).status).toBe('complete');
      const messages = await one.store.listMessages({ threadId: 't', leafId: second.messageId });
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    });

    it('queue: who comes back to the thread is given what was asked for last', async () => {
      const { model, goOn, begun } = slowFirst();
      const agent = new Agent({ model, ...(await openStage(on)).process() });
      const latest = async (): Promise<string | undefined> => (await agent.latest({ threadId: 't' }))?.runId;
      const first = await agent.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      expect(await latest()).toBe(first.runId);
      const second = await agent.stream({ threadId: 't', message: 'Two', busy: 'queue' });
      expect(await latest()).toBe(second.runId);
      await second.stop();
      expect(await latest()).toBe(first.runId);
      goOn.open();
      await first.message;
    });

    it('replace: the first is stopped and kept, as when a page stops and sends again', async () => {
      const { model } = slowFirst();
      const agent = new Agent({ model, ...(await openStage(on)).process() });
      const first = await agent.stream({ threadId: 't', message: 'One' });
      for await (const event of first.events) if (event.type === 'text-delta') break;
      const second = await agent.stream({ threadId: 't', message: 'Two', busy: 'replace' });
      expect(saidIn(await collect(second.events))).toBe('Next');
      expect(await first.message).toMatchObject({
        status: 'aborted',
        content: { parts: [{ type: 'text', text: 'First' }] },
      });
    });

    it('replace: a process that does not react is fenced, and its run ended as aborted', async () => {
      const stage = await openStage(on);
      const { store, host } = stage.process({ replaceSilenceMs: 200 });
      // A process that has stopped to work: it holds the run, and nobody there looks at it.
      await store.registry.heartbeat('stuck');
      const stuck = await store.registry.start(store.scope, {
        threadId: 't',
        runId: 'r1',
        agent: 'a',
        process: 'stuck',
        messageId: 'm1',
        busy: 'reject',
        pending: 'supersede',
      });
      expect(stuck.type).toBe('started');
      const agent = new Agent({ name: 'a', model: steppedModel(() => [...text('0', 'Next'), finish()]), store, host });
      const second = await agent.stream({ threadId: 't', message: 'Two', busy: 'replace' });
      expect(saidIn(await collect(second.events))).toBe('Next');
      expect(await (await agent.find({ runId: 'r1' }))!.record()).toMatchObject({
        state: 'aborted',
        outcome: { by: 'system', reason: 'replaced' },
      });
    });

    it('the run of a dead process is ended by whoever comes next', async () => {
      const agent = await afterDeath(on);
      expect((await agent.generate({ threadId: 't', message: 'Hi' })).text).toBe('Next');
      const lost = (await agent.find({ runId: 'r1' }))!;
      expect(await lost.record()).toMatchObject({ outcome: { error: { code: 'lost' } } });
    });

    it('the run of a dead process is ended by the sweeper of any other', async () => {
      const agent = await afterDeath(on);
      await agent.generate({ threadId: 'other', message: 'Hi' });
      const lost = (await agent.attach('r1'))!;
      await expect.poll(async () => (await lost.record()).state, { timeout: 10_000 }).toBe('error');
      expect((await collect(lost.events)).at(-1)).toMatchObject({ error: { code: 'lost' } });
    });

    it('a fenced owner falls silent: its source is left, and nothing more is written', async () => {
      const stage = await openStage(on);
      const { store, host } = stage.process();
      let isLeft = false;
      const source: AgentSource = {
        name: 'a',
        pauses: 'replay',
        run: (_, { signal }) => {
          signal.addEventListener('abort', () => void (isLeft = true));
          return new ReadableStream({ pull: () => never });
        },
      };
      const agent = new Agent({ source, store, host });
      const run = await agent.start({ threadId: 't' });
      await store.registry.stop(store.scope, run.key);
      const owned = await store.registry.fence(run.key, 'other', 0);
      expect(owned).not.toBeNull();
      await expect.poll(() => isLeft).toBe(true);
      await expect.poll(() => host.flusher.writes(run.key)).toBe(false);
    });

    it('the same key or id again is the same run; another body is refused', async () => {
      const agent = new Agent({ model: slowFirst().model, ...(await openStage(on)).process() });
      const ask = (message: string, more: object) => agent.stream({ threadId: 't', message, busy: 'queue', ...more });
      const first = await ask('One', { idempotencyKey: 'k' });
      expect((await ask('One', { idempotencyKey: 'k' })).runId).toBe(first.runId);
      await expect(ask('Two', { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'key-reused' });
      const named = await ask('One', { runId: 'mine' });
      expect((await ask('One', { runId: 'mine' })).messageId).toBe(named.messageId);
      await expect(ask('Two', { runId: 'mine' })).rejects.toMatchObject({ code: 'run-exists' });
      await first.stop();
    });
  });
}

/** An agent on a store where a process has died in the middle of run `r1`. */
async function afterDeath(on: StageName): Promise<Agent> {
  const { store, host } = (await openStage(on)).process();
  const request = { threadId: 't', runId: 'r1', agent: 'a', messageId: 'm1' };
  await store.registry.start(store.scope, { ...request, process: 'dead', busy: 'reject', pending: 'supersede' });
  await store.registry.retire('dead');
  return new Agent({ name: 'a', model: steppedModel(() => [...text('0', 'Next'), finish()]), store, host });
}
