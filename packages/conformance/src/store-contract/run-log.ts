import { foldEvents, type AgentEvent, type Store } from '@intertie/core';
import type { LogPosition, RunKey } from '@intertie/core/store';
import { describe, expect, it } from 'vitest';

import type { Contract } from './contract.ts';
import { deltas, ending, finish, start } from './samples.ts';

const beginning: LogPosition = { epoch: 0, seq: 0 };
const absent = 'no-such-run' as RunKey;

async function readAll(store: Store, run: RunKey, limit?: number): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let after = beginning; ;) {
    const page = await store.log.read(run, after, limit);
    expect(page).toMatchObject({ valid: true, dropped: false });
    events.push(...page.events);
    if (page.position.seq === page.tail) return events;
    expect(page.events.length).toBeGreaterThan(0);
    after = page.position;
  }
}

export function runLogTests(contract: Contract): void {
  describe('the log of a run', () => {
    it('numbers events from 1 in the order of the batches', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const append = async (seq: number, ...texts: string[]) =>
        (await store.log.append([{ run: run.key, epoch, seq, events: deltas(...texts) }]))[0];
      expect(await store.log.read(run.key, beginning)).toMatchObject({ events: [], tail: 0, valid: true });
      expect(await append(1, 'a', 'b')).toBe('ok');
      expect(await append(3, 'c')).toBe('ok');
      expect(await store.log.read(run.key, beginning)).toEqual({
        events: deltas('a', 'b', 'c'),
        position: { epoch: 1, seq: 3 },
        tail: 3,
        valid: true,
        dropped: false,
      });
      expect(await store.log.positions([run.key, absent])).toEqual(
        new Map([[run.key, { epoch: 1, next: 4, stop: false, live: true }]]),
      );
    });

    it('returns the exact tail after every event, in pages of every size', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const texts = ['a', 'b', 'c', 'd', 'e', 'f'];
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a', 'b', 'c') }]);
      await store.log.append([{ run: run.key, epoch, seq: 4, events: deltas('d', 'e') }]);
      await store.log.append([{ run: run.key, epoch, seq: 6, events: deltas('f') }]);
      for (let seq = 0; seq <= 6; seq++) {
        const page = await store.log.read(run.key, { epoch, seq });
        expect(page).toMatchObject({ events: deltas(...texts.slice(seq)), valid: true, position: { epoch, seq: 6 } });
      }
      for (let limit = 1; limit <= 7; limit++) {
        expect((await store.log.read(run.key, beginning, limit)).events.length).toBeLessThanOrEqual(limit);
        expect(await readAll(store, run.key, limit)).toEqual(deltas(...texts));
      }
    });

    it('folds to the same message when reading resumes at any offset', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const events: AgentEvent[] = [
        { type: 'run-start', runId: 'run_1', threadId: 'thread_1', messageId: 'a_1', at: 1 },
        { type: 'text-start', id: 'p1' },
        ...deltas('Hel', 'lo\uD83D', '\uDE00'),
        { type: 'text-end', id: 'p1' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'search', input: { q: '10.5' } },
        { type: 'tool-result', toolCallId: 'c1', status: 'ok', output: '10.5' },
        { type: 'run-end', outcome: 'complete' },
      ];
      let seq = 1;
      for (const count of [1, 3, 2, 3]) {
        await store.log.append([{ run: run.key, epoch, seq, events: events.slice(seq - 1, seq - 1 + count) }]);
        seq += count;
      }
      const whole = foldEvents(events);
      expect(whole?.content.parts).toHaveLength(2);
      for (let after = 0; after <= events.length; after++) {
        const { events: tail } = await store.log.read(run.key, { epoch: after === 0 ? 0 : epoch, seq: after });
        expect(foldEvents([...events.slice(0, after), ...tail])).toEqual(whole);
      }
    });

    it('preserves NUL, lone surrogates and events of unknown types', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const events = [
        ...deltas('a\0b\uD800', '\uDC00'),
        { type: 'hologram', depth: 3, at: 1, of: { __proto: null } } as unknown as AgentEvent,
      ];
      await store.log.append([{ run: run.key, epoch, seq: 1, events }]);
      expect(await readAll(store, run.key)).toEqual(events);
    });

    it('copies events on write and on read', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const events = [{ type: 'state-snapshot' as const, state: { n: 1 } }];
      await store.log.append([{ run: run.key, epoch, seq: 1, events }]);
      events[0]!.state.n = 2;
      Object.assign((await readAll(store, run.key))[0]!, { state: null });
      expect(await readAll(store, run.key)).toEqual([{ type: 'state-snapshot', state: { n: 1 } }]);
    });

    it('returns one verdict per batch, independent of the other batches', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const second = await start(store, '2', { threadId: 'thread_2', message: undefined });
      const verdicts = await store.log.append([
        { run: first.run.key, epoch: 1, seq: 1, events: deltas('a') },
        { run: absent, epoch: 1, seq: 1, events: deltas('b') },
        { run: second.run.key, epoch: 1, seq: 1, events: deltas('c') },
      ]);
      // A detached log cannot know whether a run exists that it has no events of.
      expect(verdicts).toEqual(['ok', contract.hasDetachedLog ? verdicts[1] : 'ended', 'ok']);
      expect(await readAll(store, second.run.key)).toEqual(deltas('c'));
    });

    it('stores the nearest JSON of unrepresentable values without affecting other batches', async () => {
      const store = await contract.open();
      const first = await start(store, '1');
      const second = await start(store, '2', { threadId: 'thread_2', message: undefined });
      const circle: { self?: object } = {};
      circle.self = circle;
      const poison = [
        { type: 'raw', dialect: 'x', value: 1n },
        { type: 'raw', dialect: 'x', value: circle },
      ] as unknown as AgentEvent[];
      expect(
        await store.log.append([
          { run: first.run.key, epoch: 1, seq: 1, events: poison },
          { run: second.run.key, epoch: 1, seq: 1, events: deltas('fine') },
        ]),
      ).toEqual(['ok', 'ok']);
      expect(await readAll(store, first.run.key)).toEqual([
        { type: 'raw', dialect: 'x', value: '1' },
        { type: 'raw', dialect: 'x', value: { self: '[circular]' } },
      ]);
      expect(await readAll(store, second.run.key)).toEqual(deltas('fine'));
    });

    it('applies a batch once if it is sent again after a lost acknowledgement', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      const batch = { run: run.key, epoch, seq: 1, events: deltas('a', 'b') };
      expect(await store.log.append([batch])).toEqual(['ok']);
      expect(await store.log.append([batch])).toEqual(['applied']);
      expect(await readAll(store, run.key)).toEqual(deltas('a', 'b'));
    });

    it('reports a gap between the log and the sequence number of the owner', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.log.append([{ run: run.key, epoch, seq: 7, events: deltas('a') }])).toEqual(['regressed']);
      expect(await readAll(store, run.key)).toEqual([]);
      await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }]);
      expect(await store.log.append([{ run: run.key, epoch, seq: 3, events: deltas('c') }])).toEqual(['regressed']);
      expect(await readAll(store, run.key)).toEqual(deltas('a'));
    });

    it('stores an append after a stop request and reports the stop', async () => {
      const store = await contract.open();
      const { run, epoch } = await start(store, '1');
      expect(await store.registry.stop(store.scope, run.key, 'enough')).toBe('requested');
      expect(await store.registry.stop(store.scope, run.key, 'again')).toBe('requested');
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ stop: true, stopReason: 'enough' });
      expect(await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }])).toEqual([
        contract.hasDetachedLog ? 'ok' : 'stop',
      ]);
      const outcome = { outcome: 'aborted', by: 'user' } as const;
      await finish(store, { run, epoch, nextSeq: 2 }, ending({ nextSeq: 2, outcome }));
      expect(await readAll(store, run.key)).toEqual([...deltas('a'), { type: 'run-end', ...outcome }]);
    });

    it('rejects appends after the end', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const { run, epoch } = started;
      await finish(store, started, ending());
      await store.log.close(run.key, 1);
      expect(await store.log.append([{ run: run.key, epoch, seq: 2, events: deltas('late') }])).toEqual(['ended']);
      expect(await readAll(store, run.key)).toEqual([{ type: 'run-end', outcome: 'complete' }]);
      expect((await store.log.positions([run.key])).get(run.key)).toMatchObject({ next: 2, live: false, stop: false });
    });

    it('rejects a position that is not in the log', async () => {
      const store = await contract.open();
      const started = await start(store, '1');
      const { run } = started;
      await store.log.append([{ run: run.key, epoch: 1, seq: 1, events: deltas('a', 'b') }]);
      await store.registry.retire('p1');
      const [taken] = await store.registry.takeOver('p2');
      await store.log.append([{ run: run.key, epoch: taken!.epoch, seq: 3, events: deltas('c') }]);
      const validAt = async (epoch: number, seq: number) => (await store.log.read(run.key, { epoch, seq })).valid;
      expect(await validAt(1, 2)).toBe(true);
      expect(await validAt(2, 3)).toBe(true);
      expect(await validAt(2, 2)).toBe(false);
      expect(await validAt(1, 3)).toBe(false);
      expect(await validAt(2, 4)).toBe(false);
      const invalid = await store.log.read(run.key, { epoch: 1, seq: 3 });
      expect(invalid).toMatchObject({ events: [], position: beginning });
      // A page contains events of one epoch, so that the position of each event is known.
      expect(await store.log.read(run.key, beginning)).toMatchObject({
        events: deltas('a', 'b'),
        position: { epoch: 1, seq: 2 },
        tail: 3,
      });
      expect(await readAll(store, run.key)).toEqual(deltas('a', 'b', 'c'));
    });

    it('drops the log of an old run, but not of a live one', async (context) => {
      const clock = contract.clock(context);
      const store = await contract.open();
      const started = await start(store, '1');
      const { run, epoch } = started;
      await store.log.drop([run.key]);
      expect(await store.log.append([{ run: run.key, epoch, seq: 1, events: deltas('a') }])).toEqual(['ok']);
      expect(await readAll(store, run.key)).toEqual(deltas('a'));
      await finish(store, started, ending({ nextSeq: 2 }));
      expect(await store.registry.listPrunable(60_000)).toEqual([]);
      await clock.advance(10);
      expect(await store.registry.listPrunable(0)).toEqual([run.key]);
      await store.log.drop([run.key, absent]);
      expect(await store.registry.listPrunable(0)).toEqual([]);
      expect(await store.log.read(run.key, beginning)).toMatchObject({ events: [], dropped: true });
      expect(await store.log.read(absent, beginning)).toMatchObject({ events: [], dropped: true });
      expect(await store.registry.getRun(store.scope, run.key)).toMatchObject({ state: 'complete', lastSeq: 2 });
    });
  });
}
