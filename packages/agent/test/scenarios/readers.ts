import type { AgentEvent } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import type { LogPosition } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import { finish, text } from '../../../ai-sdk/test/scripted-model.ts';
import { Agent } from '../../src/agent/agent.ts';
import { collect, gate, openTestStore, type StoreKind } from '../test-stores.ts';
import { steppedModel } from '../stepped-model.ts';

const deltas = Array.from({ length: 12 }, (_, n) => `${n} `);

export function readers(on: StoreKind): void {
  describe('readers', () => {
    it('delivers the remaining events to readers that reconnect at any event, in any process', async () => {
      const shared = await openTestStore(on);
      const proceed = gate();
      const model = steppedModel(async function* () {
        for (const delta of deltas.slice(0, 6)) yield* text(delta, delta);
        await proceed.opened;
        for (const delta of deltas.slice(6)) yield* text(delta, delta);
        yield finish();
      });
      const agent = new Agent({ model, ...shared.process() });
      const elsewhere = new Agent({ model, ...shared.process() });
      const run = await agent.stream({ threadId: 't', message: 'Count' });
      const far = (await elsewhere.attach(run.runId))!;
      const half: Array<{ event: AgentEvent; position: LogPosition }> = [];
      await (async () => {
        for await (const { event, position } of numbered(far.follow())) {
          half.push({ event, position });
          if (half.filter((seen) => seen.event.type === 'text-end').length === 6) return;
        }
      })();
      const tails = half.flatMap(({ position }) => [run.follow(position), far.follow(position)]);
      const reading = tails.map((tail) => collect(numbered(tail)));
      proceed.open();
      const all = await collect(numbered(run.follow()));
      const places = all.map(({ position }) => position.seq);
      expect(places).toEqual(all.map((_, index) => index + 1));
      const given = await Promise.all(reading);
      for (const [index, tail] of given.entries()) {
        expect(tail).toEqual(all.slice(half[Math.floor(index / 2)]!.position.seq));
      }
      for (const { position } of all.slice(0, -1)) {
        const after = (await elsewhere.attach(run.runId, { after: position }))!;
        expect(await collect(after.events)).toEqual(all.slice(position.seq).map(({ event }) => event));
      }
    });

    it('reads and decodes a run of another process once for many readers', async () => {
      const shared = await openTestStore(on);
      const begun = gate();
      const proceed = gate();
      const model = steppedModel(async function* () {
        begun.open();
        for (const delta of deltas) {
          yield* text(delta, delta);
          await proceed.opened;
          await new Promise((resolve) => setTimeout(resolve, 30));
        }
        yield finish();
      });
      const agent = new Agent({ model, ...shared.process() });
      const { store, host } = shared.process();
      const elsewhere = new Agent({ model, store, host });
      const run = await agent.stream({ threadId: 't', message: 'Count' });
      await begun.opened;
      let isCounting = false;
      let reads = 0;
      const read = store.log.read.bind(store.log);
      store.log.read = (...args) => {
        if (isCounting) reads += 1;
        return read(...args);
      };
      const far = (await elsewhere.attach(run.runId))!;
      const all = Array.from({ length: 20 }, () => collect(far.events));
      const { key } = await run.record();
      await expect.poll(() => host.relay.writes(key)).toBe(true);
      isCounting = true;
      proceed.open();
      const given = await Promise.all(all);
      store.log.read = read;
      for (const events of given) expect(events).toEqual(given[0]);
      expect(given[0]!.at(-1)).toMatchObject({ type: 'run-end' });
      // Each reader may read once at its beginning and once at its end; the events in between are read once for all.
      expect(reads).toBeLessThan(20 * 3);
    });

    it('reads the message of a run whose log was dropped', async () => {
      const { store, host } = (await openTestStore(on)).process();
      const agent = new Agent({ model: steppedModel(() => [...text('0', 'Kept'), finish()]), store, host });
      const run = await agent.stream({ threadId: 't', message: 'Hi' });
      await run.message;
      const record = await run.record();
      await store.log.drop([record.key]);
      const response = run.toUIMessageStreamResponse();
      expect(await response.text()).toContain('Kept');
      expect(response.headers.get('x-intertie-run')).toBe(run.runId);
    });
  });
}

async function* numbered(
  stream: ReadableStream<Followed>,
): AsyncGenerator<{ event: AgentEvent; position: LogPosition }> {
  for await (const item of stream as unknown as AsyncIterable<Followed>) {
    if (item.type !== 'events') throw new Error(`A reader got ${item.type}.`);
    const { events, position } = item;
    for (const [index, event] of events.entries()) {
      yield { event, position: { epoch: position.epoch, seq: position.seq - events.length + 1 + index } };
    }
  }
}
