import { storeContract } from '@intertie/conformance/store-contract';
import { createInMemoryStore, withDetachedLog, type AgentEvent, type Store } from '@intertie/core';
import type { DetachedLog, LogBatch, LogPage, LogPosition, RunKey, Started } from '@intertie/core/store';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { createMemoryStreams, type MemoryStreams } from '../test/memory-streams.ts';
import { createLog, type JetStreamLog } from './jetstream-log.ts';

const run = 'run' as RunKey;
const beginning: LogPosition = { epoch: 0, seq: 0 };
const deltas = (...texts: string[]): AgentEvent[] => texts.map((delta) => ({ type: 'text-delta', id: 'p', delta }));
const batch = (seq: number, ...texts: string[]): LogBatch => ({ run, epoch: 1, seq, events: deltas(...texts) });

function setup(streams: MemoryStreams = createMemoryStreams()): { streams: MemoryStreams; open: () => JetStreamLog } {
  return { streams, open: () => createLog(streams, () => undefined) };
}

async function readAll(log: DetachedLog, after = beginning, limit = 500): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for (let position = after; ;) {
    const page = (await log.read(run, position, limit)) as LogPage;
    expect(page.valid).toBe(true);
    events.push(...page.events);
    if (page.position.seq >= page.tail) return events;
    position = page.position;
  }
}

let now = Date.parse('2024-03-01T12:00:00Z');
const leaseMs = 15_000;
const openStore = (change: Partial<DetachedLog> = {}): Store =>
  withDetachedLog(createInMemoryStore({ now: () => now, leaseMs }), { ...setup().open(), ...change });

storeContract('JetStream rules in memory', async () => openStore(), {
  clock: { now: () => now, advance: (ms) => void (now += ms), leaseMs },
  detachedLog: { openWithUnclosedLog: async () => openStore({ close: () => new Promise(() => {}) }) },
});

describe('writes', () => {
  it('reports a batch as applied if its reply was lost, from this process and from another', async () => {
    const { streams, open } = setup();
    const log = open();
    streams.lostReplies = 1;
    await expect(log.append([batch(1, 'a', 'b')])).rejects.toThrow('timeout');
    expect(await log.append([batch(1, 'a', 'b')])).toEqual(['applied']);
    expect(await open().append([batch(1, 'a', 'b')])).toEqual(['applied']);
    expect(await readAll(log)).toEqual(deltas('a', 'b'));
  });

  it('returns `locked` for failed runs if others were written, and reports the error', async () => {
    const { streams } = setup();
    const onError = vi.fn<(error: unknown) => void>();
    const log = createLog(streams, onError);
    streams.lostReplies = 1;
    expect(await log.append([batch(1, 'a'), { ...batch(1, 'b'), run: 'other' as RunKey }])).toEqual(['locked', 'ok']);
    expect(onError).toHaveBeenCalledOnce();
  });

  it('continues after a marker of the same epoch', async () => {
    const { open } = setup();
    const log = open();
    expect(await log.append([batch(1, 'a')])).toEqual(['ok']);
    expect(await open().own(run, 1)).toBe(2);
    expect(await log.append([batch(2, 'b')])).toEqual(['ok']);
    expect(await readAll(log)).toEqual(deltas('a', 'b'));
  });

  it('refuses a stale writer whose batch was delayed', async () => {
    const { open } = setup();
    const [stale, owner] = [open(), open()];
    await stale.append([batch(1, 'a')]);
    expect(await owner.own(run, 2)).toBe(2);
    expect(await stale.append([batch(2, 'late')])).toEqual(['fenced']);
    expect(await stale.own(run, 1)).toBe('fenced');
    expect(await readAll(owner)).toEqual(deltas('a'));
  });
});

describe('a leader that answers with an old state', () => {
  it('does not make a complete log look regressed', async () => {
    const { streams, open } = setup();
    await open().append([batch(1, 'a')]);
    await open().append([batch(2, 'b')]);
    const log = open();
    streams.visibleUntil = 1;
    const appended = log.append([batch(3, 'c')]);
    await vi.waitFor(() => expect(streams.messages).toHaveLength(2));
    streams.visibleUntil = undefined;
    expect(await appended).toEqual(['ok']);
  });

  it('does not hide events from the process that took the run over', async () => {
    const { streams, open } = setup();
    await open().append([batch(1, 'a')]);
    await open().append([batch(2, 'b')]);
    const log = open();
    expect(await log.own(run, 2)).toBe(3);
    streams.visibleUntil = 1;
    setTimeout(() => (streams.visibleUntil = undefined), 60);
    expect(await readAll(log)).toEqual(deltas('a', 'b'));
  });
});

describe('a reader with a position that a leader with an old state does not know', () => {
  it.each([0, 1])('continues after its last event if the leader has %i messages', async (visible) => {
    const { streams, open } = setup();
    await open().append([batch(1, 'a')]);
    await open().append([batch(2, 'b')]);
    await open().append([batch(3, 'c')]);
    streams.visibleUntil = visible;
    setTimeout(() => (streams.visibleUntil = undefined), 60);
    const page = await open().read(run, { epoch: 1, seq: 2 }, 10);
    expect(page).toMatchObject({ events: deltas('c'), valid: true, dropped: false });
  });

  it('is reset if the log is really shorter, and the writer continues', async () => {
    const { open } = setup();
    const log = open();
    expect(await open().read(run, { epoch: 1, seq: 2 }, 10)).toBeNull();
    expect(await log.append([batch(1, 'a')])).toEqual(['ok']);
    expect(await open().read(run, { epoch: 1, seq: 2 }, 10)).toMatchObject({ valid: false, dropped: false });
    expect(await log.append([batch(2, 'b')])).toEqual(['ok']);
    expect(await readAll(log)).toEqual(deltas('a', 'b'));
  });
});

describe('a stream that lost messages', () => {
  it('reports `regressed`, then accepts the run from the beginning', async () => {
    const { streams, open } = setup();
    const log = open();
    await log.append([batch(1, 'a')]);
    streams.messages.length = 0;
    expect(await log.append([batch(2, 'b')])).toEqual(['regressed']);
    expect(await log.read(run, { epoch: 1, seq: 1 }, 10)).toMatchObject({ valid: false, dropped: false });
  });

  it('reports a log without its first messages as dropped', async () => {
    const { streams, open } = setup();
    for (const [index, text] of ['a', 'b', 'c'].entries()) await open().append([batch(index + 1, text)]);
    streams.messages.shift();
    expect(await open().read(run, beginning, 10)).toMatchObject({ events: [], dropped: true });
    expect(await readAll(open(), { epoch: 1, seq: 1 })).toEqual(deltas('b', 'c'));
  });
});

it.each([
  { erase: false, left: 3 },
  { erase: true, left: 1 },
])('refuses late events of a dropped run, and leaves $left messages if erase is $erase', async ({ erase, left }) => {
  const { streams, open } = setup();
  const log = open();
  await log.append([batch(1, 'a')]);
  await log.append([batch(2, 'b')]);
  await open().drop([run], { erase });
  expect(streams.messages).toHaveLength(left);
  expect(await log.append([batch(3, 'c')])).toEqual(['ended']);
  expect(await open().own(run, 2)).toBe('ended');
  expect(await open().read(run, { epoch: 1, seq: 1 }, 10)).toMatchObject({ events: [], dropped: true });
});

it('erases the events of a deleted thread', async () => {
  const { streams, open } = setup();
  const store = withDetachedLog(createInMemoryStore(), open());
  await store.registry.heartbeat('p');
  const request = { threadId: 't', runId: 'r', messageId: 'm', agent: 'a', process: 'p' };
  const started = await store.registry.start(store.scope, { ...request, busy: 'reject', pending: 'reject' });
  const { key } = (started as Started).run;
  await store.log.append([{ ...batch(1, 'secret'), run: key }]);
  await store.deleteThread({ threadId: 't' });
  expect(streams.messages).toHaveLength(1);
  expect(streams.messages[0]!.text).not.toContain('secret');
});

it('splits a batch that exceeds the maximum payload, and ignores an incomplete one', async () => {
  const { streams, open } = setup(createMemoryStreams(1024));
  const log = open();
  const long = deltas('"\\\u0000é😀\ud800'.repeat(700), 'b');
  await log.append([batch(1, 'a')]);
  streams.lostReplies = 1;
  await expect(log.append([{ ...batch(2), events: long }])).rejects.toThrow('timeout');
  expect(await readAll(open())).toEqual(deltas('a'));
  expect(await log.append([{ ...batch(2), events: long }])).toEqual(['ok']);
  expect(await log.append([batch(4, 'c')])).toEqual(['ok']);
  const all = [...deltas('a'), ...long, ...deltas('c')];
  for (let seq = 0; seq <= all.length; seq++) {
    expect(await readAll(open(), { epoch: 1, seq })).toEqual(all.slice(seq));
    expect(await readAll(log, { epoch: 1, seq }, 1)).toEqual(all.slice(seq));
  }
});

it('reads the same events from every position, in pages of every size, among the messages of other runs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ n: fc.integer({ min: 1, max: 4 }), others: fc.nat({ max: 300 }), takeover: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.integer({ min: 1, max: 9 }),
      async (batches, limit) => {
        const { streams, open } = setup();
        const log = open();
        const written: Array<{ event: AgentEvent; epoch: number }> = [];
        let epoch = 1;
        for (const { n, others, takeover } of batches) {
          for (let each = 0; each < others; each++)
            await streams.publish(`other_${written.length}_${each}` as RunKey, '{}', 0);
          if (takeover) await log.own(run, ++epoch);
          else if (written.length === 0) await log.own(run, epoch);
          const events = deltas(...Array.from({ length: n }, (_, index) => `${written.length + index} `));
          expect(await log.append([{ run, epoch, seq: written.length + 1, events }])).toEqual(['ok']);
          for (const event of events) written.push({ event, epoch });
        }
        for (let seq = 0; seq <= written.length; seq++) {
          const position = { epoch: written[seq - 1]?.epoch ?? 0, seq };
          expect(await readAll(open(), position, limit)).toEqual(written.slice(seq).map(({ event }) => event));
          const other = await open().read(run, { epoch: position.epoch + 1, seq }, 9);
          // Every epoch may start at the beginning.
          expect(other!.valid).toBe(seq === 0);
        }
      },
    ),
    { numRuns: 30 },
  );
});
