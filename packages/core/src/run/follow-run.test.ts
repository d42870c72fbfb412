import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { AgentEvent } from '../event/event.ts';
import { DatabaseUnavailableError } from '../store/database-unavailable-error.ts';
import { followRun, type Followed, type FollowOptions } from './follow-run.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { FinishRequest, Started } from '../store/registry.ts';
import { createRunFlusher } from './run-flusher.ts';
import type { LogPosition } from '../store/run-log.ts';
import { createRunWatcher } from './run-watcher.ts';

const notice = (message: string): AgentEvent => ({ type: 'notice', level: 'info', message });
const runEnd: AgentEvent = { type: 'run-end', outcome: 'complete' };
const end = (nextSeq: number, events: AgentEvent[] = [runEnd]): FinishRequest => ({
  nextSeq,
  events,
  outcome: { outcome: 'complete' },
  content: { format: 2, parts: [] },
});

/** Starts a run in a store, with watcher and flusher. Polling is off by default. */
async function setup(options: { pollMs?: number } = {}) {
  const store = createInMemoryStore();
  await store.registry.heartbeat('p1');
  const started = (await store.registry.start(store.scope, {
    threadId: 't1',
    runId: 'r1',
    agent: 'helper',
    process: 'p1',
    messageId: 'a1',
    busy: 'reject',
    pending: 'reject',
  })) as Started;
  const pollMs = options.pollMs ?? 2 ** 30;
  const watcher = createRunWatcher({
    log: store.log,
    hints: store.hints,
    restMs: 0,
    pollMs: { connected: pollMs, alone: pollMs },
  });
  const flusher = createRunFlusher({ log: store.log, tickMs: 1 });
  onTestFinished(async () => {
    watcher.close();
    await flusher.close();
  });
  const { key } = started.run;
  const append = (seq: number, ...texts: string[]) =>
    store.log.append([{ run: key, epoch: started.epoch, seq, events: texts.map(notice) }]);
  const follow = (overrides: Partial<FollowOptions> = {}) =>
    followRun({ store, watcher, scope: store.scope, run: key, ...overrides }).getReader();
  return { store, started, key, watcher, flusher, append, follow };
}

type Reader = ReadableStreamDefaultReader<Followed>;

async function readRest(reader: Reader): Promise<Followed[]> {
  const items: Followed[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return items;
    items.push(value);
  }
}

function getTexts(items: readonly Followed[]): string[] {
  return items.flatMap((item) =>
    item.type === 'events'
      ? item.events.map((event) => (event.type === 'notice' ? event.message : event.type))
      : [`(${item.type})`],
  );
}

describe('followRun: ended runs', () => {
  it('reads an ended run from any position', async () => {
    const { store, started, key, append, follow } = await setup();
    await append(1, 'a', 'b');
    await append(3, 'c');
    await store.registry.finish(key, 1, end(4));
    const all = ['a', 'b', 'c', 'run-end'];
    for (let seq = 0; seq < all.length; seq++) {
      const items = await readRest(follow({ after: { epoch: started.epoch, seq } }));
      expect(getTexts(items)).toEqual(all.slice(seq));
      expect(items.at(-1)).toMatchObject({ position: { epoch: 1, seq: 4 } });
    }
  });

  it('derives the end from the registry if the log has none', async () => {
    const { store, key, append, follow } = await setup();
    await append(1, 'a');
    await store.registry.finish(key, 1, end(2, []));
    const items = await readRest(follow());
    expect(getTexts(items)).toEqual(['a', '(ended)']);
    expect(items.at(-1)).toMatchObject({ event: { type: 'run-end', outcome: 'complete', at: expect.any(Number) } });
    expect(getTexts(await readRest(follow({ after: { epoch: 1, seq: 1 } })))).toEqual(['(ended)']);
  });

  it('reads again if the log lacks events of an ended run, instead of ending early', async () => {
    const { store, key, started, append, follow } = await setup();
    await append(1, 'a', 'b');
    const behind = await store.log.read(key, { epoch: 0, seq: 0 }, 1);
    await store.registry.finish(key, started.epoch, end(3));
    let reads = 0;
    const read: typeof store.log.read = async (...args) =>
      ++reads > 3
        ? store.log.read(...args)
        : args[1].seq === 0
          ? { ...behind, tail: 1 }
          : { ...behind, events: [], tail: 1 };
    const items = await readRest(follow({ store: { ...store, log: { ...store.log, read } }, retryMs: 1 }));
    expect(items.flatMap((item) => (item.type === 'events' ? item.events : []))).toEqual([
      notice('a'),
      notice('b'),
      runEnd,
    ]);
  });

  it('reports a dropped or missing log', async () => {
    const { store, key, append, follow } = await setup();
    await append(1, 'a');
    await store.registry.finish(key, 1, end(2));
    await store.log.drop([key]);
    expect(getTexts(await readRest(follow()))).toEqual(['(dropped)']);
    expect(getTexts(await readRest(follow({ run: 'nowhere' as typeof key })))).toEqual(['(dropped)']);
  });
});

describe('followRun: live runs', () => {
  it('follows a live run by hints alone', async () => {
    const { store, key, append, follow } = await setup();
    const reader = follow();
    await append(1, 'a');
    expect(getTexts([(await reader.read()).value!])).toEqual(['a']);
    const waiting = reader.read();
    await append(2, 'b', 'c');
    expect(getTexts([(await waiting).value!])).toEqual(['b', 'c']);
    const last = readRest(reader);
    await store.registry.finish(key, 1, end(4));
    expect(getTexts(await last)).toEqual(['run-end']);
  });

  it('follows a live run by polling when hints are lost', async () => {
    const { store, key, append, follow, watcher } = await setup({ pollMs: 5 });
    vi.spyOn(store.hints, 'publish').mockImplementation(() => {});
    const reading = readRest(follow());
    await append(1, 'a');
    await store.registry.finish(key, 1, end(2));
    expect(getTexts(await reading)).toEqual(['a', 'run-end']);
    watcher.close();
  });

  it('receives local batches from the flusher without reading the log', async () => {
    const { store, key, started, flusher, follow } = await setup();
    const writer = flusher.open(started);
    const reader = follow({ local: flusher });
    const reads = vi.spyOn(store.log, 'read');
    const reading = readRest(reader);
    for (const text of ['a', 'b', 'c', 'd']) {
      writer.write(notice(text));
      await writer.barrier();
    }
    writer.write(runEnd);
    await writer.finish((unwritten) => store.registry.finish(key, 1, { ...end(1), ...unwritten }));
    expect(getTexts(await reading)).toEqual(['a', 'b', 'c', 'd', 'run-end']);
    expect(reads.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('switches a slow reader from pushed batches to the log', async () => {
    const { store, key, started, flusher, follow } = await setup();
    const writer = flusher.open(started);
    const reader = follow({ local: flusher, maxPushedBytes: 100 });
    for (let n = 0; n < 50; n++) {
      writer.write(notice(`${n}`));
      await writer.barrier();
    }
    const reading = readRest(reader);
    await writer.finish((unwritten) => store.registry.finish(key, 1, { ...end(1), ...unwritten, events: [runEnd] }));
    expect(getTexts(await reading)).toEqual([...Array.from({ length: 50 }, (_, n) => `${n}`), 'run-end']);
  });

  it('continues with the log when this process stops writing', async () => {
    const { store, key, started, flusher, follow, append } = await setup();
    const writer = flusher.open(started);
    const reading = readRest(follow({ local: flusher }));
    writer.write(notice('a'));
    await writer.barrier();
    writer.close();
    await append(2, 'b');
    await store.registry.finish(key, 1, end(3));
    expect(getTexts(await reading)).toEqual(['a', 'b', 'run-end']);
  });

  it('waits for a queued run', async () => {
    const { store, key, follow } = await setup();
    const queued = await store.registry.start(store.scope, {
      threadId: 't1',
      runId: 'r2',
      agent: 'helper',
      process: 'p1',
      messageId: 'a2',
      busy: 'queue',
      pending: 'reject',
    });
    const run = (queued as { run: { key: typeof key } }).run.key;
    const reading = readRest(follow({ run }));
    await store.registry.finish(key, 1, end(1));
    const promoted = await store.registry.promote(store.scope, 't1', 'p1');
    await store.log.append([{ run, epoch: promoted!.epoch, seq: 1, events: [notice('a')] }]);
    await store.registry.finish(run, promoted!.epoch, end(2));
    expect(getTexts(await reading)).toEqual(['a', 'run-end']);
  });

  it('ends the stream when the run is deleted', async () => {
    const { store, append, follow } = await setup();
    await append(1, 'a');
    const reader = follow();
    await reader.read();
    const reading = readRest(reader);
    await store.deleteThread({ threadId: 't1' });
    expect(await reading).toEqual([
      { type: 'ended', event: { type: 'run-end', outcome: 'aborted', by: 'system', reason: 'deleted' } },
    ]);
  });
});

describe('followRun: cursors', () => {
  it('resets a reader whose cursor has another epoch', async () => {
    const { store, key, append, follow } = await setup();
    await append(1, 'a', 'b');
    await store.registry.retire('p1');
    const [owned] = await store.registry.takeOver('p2');
    await store.log.append([{ run: key, epoch: owned!.epoch, seq: 3, events: [notice('c')] }]);
    await store.registry.finish(key, owned!.epoch, end(4));
    const wrong: LogPosition[] = [
      { epoch: 1, seq: 3 },
      { epoch: 2, seq: 2 },
      { epoch: 2, seq: 9 },
    ];
    for (const after of wrong) {
      expect(getTexts(await readRest(follow({ after })))).toEqual(['(reset)', 'a', 'b', 'c', 'run-end']);
    }
  });

  it('reports correct positions across a change of owner', async () => {
    const { store, key, append, follow } = await setup();
    await append(1, 'a', 'b');
    await store.registry.retire('p1');
    const [owned] = await store.registry.takeOver('p2');
    await store.log.append([{ run: key, epoch: owned!.epoch, seq: 3, events: [notice('c')] }]);
    await store.registry.finish(key, owned!.epoch, end(4));
    const all = ['a', 'b', 'c', 'run-end'];
    for (const item of await readRest(follow())) {
      if (item.type !== 'events') throw new Error(`Unexpected item: ${item.type}`);
      const { epoch, seq: last } = item.position;
      for (let seq = last - item.events.length + 1; seq <= last; seq++) {
        if (seq === all.length) continue;
        expect(getTexts(await readRest(follow({ after: { epoch, seq } })))).toEqual(all.slice(seq));
      }
    }
  });
});

describe('followRun: unreachable log', () => {
  it('stalls while the log is unreachable and then continues', async () => {
    const { store, key, append, follow } = await setup();
    await append(1, 'a');
    const read = vi.spyOn(store.log, 'read').mockRejectedValueOnce(new Error('away'));
    const reading = readRest(follow({ retryMs: 1 }));
    await store.registry.finish(key, 1, end(2));
    expect(getTexts(await reading)).toEqual(['a', 'run-end']);
    expect(read.mock.calls.length).toBeGreaterThan(1);
  });

  it('fails the stream when the log is unreachable for too long', async () => {
    const { store, follow } = await setup();
    vi.spyOn(store.log, 'read').mockRejectedValue(new Error('away'));
    await expect(readRest(follow({ retryMs: 1, maxOutageMs: 3 }))).rejects.toThrow('away');
  });
});

it('fails the stream with a message for users when the database is away for too long', async () => {
  const { store, follow } = await setup();
  const cause = new Error('Connection terminated unexpectedly');
  vi.spyOn(store.log, 'read').mockRejectedValue(new DatabaseUnavailableError(undefined, { cause }));
  await expect(readRest(follow({ retryMs: 1, maxOutageMs: 3 }))).rejects.toMatchObject({
    code: 'database-away',
    message: expect.stringMatching(/^The database has not answered .* Open it again later\.$/),
  });
});

it('releases all resources when the reader cancels', async () => {
  const { started, append, follow, watcher, flusher } = await setup();
  flusher.open(started);
  const unwatched = vi.fn<() => void>();
  const unfollowed = vi.fn<() => void>();
  const watch: typeof watcher.watch = (...given) => {
    const unwatch = watcher.watch(...given);
    return () => (unwatched(), unwatch());
  };
  const reader = follow({
    watcher: { ...watcher, watch },
    local: { writes: () => false, isUnwritten: () => false, follow: () => unfollowed },
  });
  await append(1, 'a');
  await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  expect((await waiting).done).toBe(true);
  expect([unwatched.mock.calls.length, unfollowed.mock.calls.length]).toEqual([1, 1]);
});
