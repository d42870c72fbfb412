import type { AgentSource } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, gate, openTestStore, joinText, type StoreKind } from '../test-stores.ts';
import { steppedModel } from '../stepped-model.ts';

const never = new Promise<void>(() => {});

/** Creates a model whose first response waits for `proceed`. Later responses are complete immediately. */
function slowFirst() {
  const proceed = gate();
  const begun = gate();
  const model = steppedModel(
    async function* () {
      yield* text('0', 'First').slice(0, 2);
      begun.open();
      await proceed.opened;
      yield* text('0').slice(1);
      yield finish();
    },
    () => [...text('0', 'Next'), finish()],
  );
  return { model, proceed, begun };
}

export function busy(on: StoreKind): void {
  describe('a message during a run', () => {
    it('refuses the message with the live run under `busy: reject`', async () => {
      const { model, proceed, begun } = slowFirst();
      const agent = new Agent({ model, ...(await openTestStore(on)).process() });
      const run = await agent.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      await expect(agent.stream({ threadId: 't', message: 'Two' })).rejects.toMatchObject({
        code: 'busy',
        refusal: { live: { runId: run.runId } },
      });
      proceed.open();
      expect((await run.message).status).toBe('complete');
    });

    it('queues the message until the first run ends under `busy: queue`, including across processes', async () => {
      const shared = await openTestStore(on);
      const { model, proceed, begun } = slowFirst();
      const one = new Agent({ model, ...shared.process() });
      const two = new Agent({ model, ...shared.process() });
      const first = await one.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      const second = await two.stream({ threadId: 't', message: 'Two', busy: 'queue' });
      const third = await one.stream({ threadId: 't', message: 'Three', busy: 'queue' });
      expect((await second.record()).state).toBe('queued');
      await third.stop();
      expect((await collect(third.events)).at(-1)).toMatchObject({ outcome: 'aborted' });
      proceed.open();
      expect(joinText(await collect(second.events))).toBe('Next');
      expect((await first.message).status).toBe('complete');
      const messages = await one.store.listMessages({ threadId: 't', leafId: second.messageId });
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    });

    it('returns a queued run as the latest run of the thread', async () => {
      const { model, proceed, begun } = slowFirst();
      const agent = new Agent({ model, ...(await openTestStore(on)).process() });
      const latest = async (): Promise<string | undefined> => (await agent.latest({ threadId: 't' }))?.runId;
      const first = await agent.stream({ threadId: 't', message: 'One' });
      await begun.opened;
      expect(await latest()).toBe(first.runId);
      const second = await agent.stream({ threadId: 't', message: 'Two', busy: 'queue' });
      expect(await latest()).toBe(second.runId);
      await second.stop();
      expect(await latest()).toBe(first.runId);
      proceed.open();
      await first.message;
    });

    it('stops the first run and stores its text under `busy: replace`', async () => {
      const { model } = slowFirst();
      const agent = new Agent({ model, ...(await openTestStore(on)).process() });
      const first = await agent.stream({ threadId: 't', message: 'One' });
      for await (const event of first.events) if (event.type === 'text-delta') break;
      const second = await agent.stream({ threadId: 't', message: 'Two', busy: 'replace' });
      expect(joinText(await collect(second.events))).toBe('Next');
      expect(await first.message).toMatchObject({
        status: 'aborted',
        content: { parts: [{ type: 'text', text: 'First' }] },
      });
    });

    it('fences a process that does not react under `busy: replace`, and ends its run as aborted', async () => {
      const shared = await openTestStore(on);
      const { store, host } = shared.process({ replaceSilenceMs: 200 });
      // A process that hangs: it owns the run and does not execute it.
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
      expect(joinText(await collect(second.events))).toBe('Next');
      expect(await (await agent.find({ runId: 'r1' }))!.record()).toMatchObject({
        state: 'aborted',
        outcome: { by: 'system', reason: 'replaced' },
      });
    });

    it('ends the run of a dead process when a message for the same thread arrives', async () => {
      const agent = await afterDeath(on);
      expect((await agent.generate({ threadId: 't', message: 'Hi' })).text).toBe('Next');
      const lost = (await agent.find({ runId: 'r1' }))!;
      expect(await lost.record()).toMatchObject({ outcome: { error: { code: 'lost' } } });
    });

    it('ends the run of a dead process in a sweep', async () => {
      const agent = await afterDeath(on);
      await agent.generate({ threadId: 'other', message: 'Hi' });
      const lost = (await agent.attach('r1'))!;
      await expect.poll(async () => (await lost.record()).state, { timeout: 10_000 }).toBe('error');
      expect((await collect(lost.events)).at(-1)).toMatchObject({ error: { code: 'lost' } });
    });

    it('aborts the source and writes nothing more after another process has fenced the run', async () => {
      const shared = await openTestStore(on);
      const { store, host } = shared.process();
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

    it('returns the same run for the same key or id, and refuses a different message', async () => {
      const agent = new Agent({ model: slowFirst().model, ...(await openTestStore(on)).process() });
      const ask = (message: string, ids: object) => agent.stream({ threadId: 't', message, busy: 'queue', ...ids });
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

/** Returns an agent on a store where a process has died during run `r1`. */
async function afterDeath(on: StoreKind): Promise<Agent> {
  const { store, host } = (await openTestStore(on)).process();
  const request = { threadId: 't', runId: 'r1', agent: 'a', messageId: 'm1' };
  await store.registry.start(store.scope, { ...request, process: 'dead', busy: 'reject', pending: 'supersede' });
  await store.registry.retire('dead');
  return new Agent({ name: 'a', model: steppedModel(() => [...text('0', 'Next'), finish()]), store, host });
}
