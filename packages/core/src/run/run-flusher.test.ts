import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AgentEvent } from '../event/event.ts';
import { createInMemoryStore } from '../store/in-memory/in-memory-store.ts';
import type { Ownership, Started } from '../store/registry.ts';
import { createRunFlusher, type RunFlusherOptions } from './run-flusher.ts';
import type { Appended, LogBatch, RunKey, RunLog } from '../store/run-log.ts';
import type { CommittedBatch } from './run-writer.ts';
import { StoreError } from '../store/store-error.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const owned = (key = 'r1', nextSeq = 1) => ({ run: { key: key as RunKey }, epoch: 1, nextSeq });
const delta = (text: string, id = 'p1'): AgentEvent => ({ type: 'text-delta', id, delta: text });
const notice = (message: string): AgentEvent => ({ type: 'notice', level: 'info', message });

type Statement = { batches: readonly LogBatch[]; at: number; answer(...verdicts: Appended[]): void; fail(): void };

/** Creates a log that records its statements. They are answered `ok` immediately, or by the test (`byHand`). */
function setup(options: Partial<RunFlusherOptions> & { byHand?: true } = {}) {
  const statements: Statement[] = [];
  const { byHand, ...rest } = options;
  const append = (batches: readonly LogBatch[]): Promise<readonly Appended[]> =>
    new Promise((resolve, reject) => {
      const answer = (...verdicts: Appended[]): void => resolve(batches.map((_, n) => verdicts[n] ?? 'ok'));
      const fail = (): void => reject(new Error('The connection is gone.'));
      statements.push({ batches, at: Date.now() - startedAt, answer, fail });
      if (!byHand) answer();
    });
  const startedAt = Date.now();
  const log = { append } as unknown as RunLog;
  const flusher = createRunFlusher({ log, now: () => Date.now(), ...rest });
  return { flusher, statements };
}

const getTexts = ({ batches }: Statement): string[] =>
  batches.flatMap(({ events }) => events.map((event) => ('delta' in event ? event.delta : event.type)));

describe('createRunFlusher: timing', () => {
  it('writes the first event immediately, then one statement per tick for all runs', async () => {
    const { flusher, statements } = setup();
    const [one, two] = [flusher.open(owned('r1')), flusher.open(owned('r2'))];
    one.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(statements.map(({ at }) => at)).toEqual([0]);
    for (let n = 0; n < 10; n++) {
      one.write(notice('b'));
      two.write(notice('c'));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(statements.map(({ at }) => at)).toEqual([0, 40, 80]);
    expect(statements[1]!.batches.map(({ run, seq, events }) => [run, seq, events.length])).toEqual([
      ['r1', 2, 4],
      ['r2', 1, 4],
    ]);
  });

  it('schedules no timer while nothing is buffered', async () => {
    const { flusher } = setup();
    flusher.open(owned()).write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has at most two statements in flight and each run in only one', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const [one, two, three] = ['r1', 'r2', 'r3'].map((key) => flusher.open(owned(key)));
    one!.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    one!.write(notice('b'));
    two!.write(notice('c'));
    await vi.advanceTimersByTimeAsync(100);
    three!.write(notice('d'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(statements.map(({ batches }) => batches.map(({ run }) => run))).toEqual([['r1'], ['r2']]);
    statements[1]!.answer();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(statements[2]!.batches.map(({ run }) => run)).toEqual(['r3']);
    statements[0]!.answer();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(statements[3]!.batches).toMatchObject([{ run: 'r1', seq: 2 }]);
  });

  /** Runs statements of the given duration with constant writes. Returns the start time of each. */
  async function runStatements(count: number, ms = 100): Promise<number[]> {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    for (let n = 0; n < count; n++) {
      writer.write(notice('a'));
      await vi.advanceTimersByTimeAsync(0);
      while (statements.length === n) await vi.advanceTimersByTimeAsync(1);
      writer.write(notice('b'));
      await vi.advanceTimersByTimeAsync(ms);
      statements[n]!.answer();
    }
    await vi.advanceTimersByTimeAsync(1_000);
    return statements.map(({ at }) => at);
  }

  it('flushes a slow database at most a quarter of the time', async () => {
    const starts = await runStatements(5);
    expect(starts[5]! - starts[4]!).toBe(400);
  });

  it('keeps its tick after a few slow statements', async () => {
    expect(await runStatements(1)).toEqual([0, 100]);
    expect(await runStatements(2)).toEqual([0, 100, 200]);
  });

  it('starts statements early enough to be durable within a tick', async () => {
    expect(await runStatements(3, 6)).toEqual([0, 34, 68, 102]);
  });

  it('flushes without waiting for the tick at a barrier', async () => {
    const { flusher, statements } = setup();
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(delta('b'));
    expect(await writer.barrier()).toBe('durable');
    expect(statements.map(({ at }) => at)).toEqual([0, 0]);
    expect(await writer.barrier()).toBe('durable');
    expect(statements).toHaveLength(2);
  });

  it('flushes for a barrier right after the statement in flight', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(notice('b'));
    const passed = vi.fn<(passed: string) => void>();
    void writer.barrier().then(passed);
    statements[0]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(passed).not.toHaveBeenCalled();
    statements[1]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(passed).toHaveBeenCalledWith('durable');
  });
});

describe('createRunFlusher: batches', () => {
  it('merges deltas before they are numbered', async () => {
    const { flusher, statements } = setup();
    const writer = flusher.open(owned());
    for (const text of ['H', 'e', 'y']) writer.write(delta(text));
    writer.write(delta('other', 'p2'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(delta('!'));
    await vi.advanceTimersByTimeAsync(40);
    expect(statements.map(getTexts)).toEqual([['Hey', 'other'], ['!']]);
    expect(statements[1]!.batches[0]!.seq).toBe(3);
  });

  it('limits the batch of a run to the maximum size, but at least one event', async () => {
    const { flusher, statements } = setup({ maxBatchBytes: 100 });
    const writer = flusher.open(owned());
    for (const size of [300, 10, 10]) writer.write(notice('x'.repeat(size)));
    await writer.barrier();
    expect(statements.map(({ batches }) => batches[0]!.events.length)).toEqual([1, 1, 1]);
  });

  it('blocks the source when one run has too many unwritten bytes', async () => {
    const { flusher, statements } = setup({ byHand: true, maxRunBytes: 100 });
    const writer = flusher.open(owned());
    const ready = vi.fn<() => void>();
    await writer.waitForRoom();
    writer.write(notice('x'.repeat(200)));
    void writer.waitForRoom().then(ready);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ready).not.toHaveBeenCalled();
    statements[0]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(ready).toHaveBeenCalled();
  });

  it('blocks all sources when the total of unwritten bytes is too large', async () => {
    const { flusher, statements } = setup({ byHand: true, maxBytes: 100 });
    const [one, two] = [flusher.open(owned('r1')), flusher.open(owned('r2'))];
    one.write(notice('x'.repeat(200)));
    const ready = vi.fn<() => void>();
    void two.waitForRoom().then(ready);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ready).not.toHaveBeenCalled();
    statements[0]!.answer('fenced');
    await vi.advanceTimersByTimeAsync(0);
    expect(ready).toHaveBeenCalled();
  });
});

describe('createRunFlusher: verdicts', () => {
  it('resends the same batch after a lost reply, regardless of later writes', async () => {
    const errors: unknown[] = [];
    const { flusher, statements } = setup({ byHand: true, onError: (error) => errors.push(error) });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(notice('b'));
    const passed = writer.barrier();
    statements[0]!.fail();
    await vi.advanceTimersByTimeAsync(40);
    expect(errors).toHaveLength(1);
    expect(statements[1]!.batches).toEqual(statements[0]!.batches);
    statements[1]!.answer('applied');
    await vi.advanceTimersByTimeAsync(0);
    expect(statements[2]!.batches).toMatchObject([{ seq: 2, events: [notice('b')] }]);
    statements[2]!.answer();
    expect(await passed).toBe('durable');
  });

  it('retries with exponential backoff while the database is unreachable', async () => {
    const { flusher, statements } = setup({ byHand: true });
    flusher.open(owned()).write(notice('a'));
    for (let n = 0; n < 8; n++) {
      await vi.advanceTimersToNextTimerAsync();
      statements.at(-1)!.fail();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(statements.map(({ at }) => at)).toEqual([0, 40, 120, 280, 600, 1240, 2240, 3240]);
  });

  it('waits one tick for a locked run, even at a barrier', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    const passed = writer.barrier();
    statements[0]!.answer('locked');
    await vi.advanceTimersByTimeAsync(39);
    expect(statements).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(statements[1]!.batches).toEqual(statements[0]!.batches);
    statements[1]!.answer();
    expect(await passed).toBe('durable');
  });

  it('reports a stop request once and keeps writing', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const onStop = vi.fn<() => void>();
    const writer = flusher.open(owned(), { onStop });
    for (const text of ['a', 'b']) {
      writer.write(notice(text));
      const passed = writer.barrier();
      statements.at(-1)!.answer('stop');
      expect(await passed).toBe('stop');
    }
    expect(onStop).toHaveBeenCalledTimes(1);
    expect(writer.stopRequested).toBe(true);
  });

  it.each(['fenced', 'ended', 'regressed'] as const)('stops writing a run that is %s', async (verdict) => {
    const { flusher, statements } = setup({ byHand: true });
    const onLost = vi.fn<(reason: string) => void>();
    const writer = flusher.open(owned(), { onLost });
    writer.write(notice('a'));
    const passed = writer.barrier();
    statements[0]!.answer(verdict);
    await expect(passed).rejects.toMatchObject({ name: 'RunLostError', reason: verdict });
    await expect(writer.barrier()).rejects.toThrow('can no longer be written');
    writer.write(notice('b'));
    await writer.waitForRoom();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(statements).toHaveLength(1);
    expect(onLost.mock.calls).toEqual([[verdict]]);
    expect(writer.lost).toBe(verdict);
  });

  it('keeps writing the other runs of a statement', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const [one, two] = [flusher.open(owned('r1')), flusher.open(owned('r2'))];
    one.write(notice('a'));
    two.write(notice('b'));
    await vi.advanceTimersByTimeAsync(0);
    statements[0]!.answer('fenced', 'ok');
    expect(await two.barrier()).toBe('durable');
    expect(one.lost).toBe('fenced');
  });
});

describe('createRunFlusher: local readers', () => {
  it('delivers a batch to local readers only once it is durable', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    const read: Array<CommittedBatch | null> = [];
    const unfollow = flusher.follow('r1' as RunKey, (batch) => read.push(batch));
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toEqual([]);
    statements[0]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toEqual([{ epoch: 1, seq: 1, events: [notice('a')], bytes: expect.any(Number) }]);
    unfollow();
    writer.write(notice('b'));
    await vi.advanceTimersByTimeAsync(40);
    statements[1]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toHaveLength(1);
  });

  it('delivers to a local reader that subscribed before the writer opened', async () => {
    const { flusher } = setup();
    const read: Array<CommittedBatch | null> = [];
    flusher.follow('r1' as RunKey, (batch) => read.push(batch));
    expect(flusher.writes('r1' as RunKey)).toBe(false);
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await writer.barrier();
    expect(flusher.writes('r1' as RunKey)).toBe(true);
    expect(read).toMatchObject([{ events: [notice('a')] }]);
  });

  it('delivers null to local readers when this process stops writing', async () => {
    const { flusher } = setup();
    const writer = flusher.open(owned());
    const read: unknown[] = [];
    flusher.follow('r1' as RunKey, (batch) => read.push(batch));
    writer.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(read).toEqual([null]);
    expect(flusher.writes('r1' as RunKey)).toBe(false);
  });
});

describe('createRunFlusher: finish and close', () => {
  const start = async (): Promise<{ store: ReturnType<typeof createInMemoryStore>; started: Started }> => {
    const store = createInMemoryStore();
    const started = await store.registry.start(store.scope, {
      threadId: 't1',
      runId: 'r1',
      agent: 'helper',
      process: 'p1',
      messageId: 'a1',
      busy: 'reject',
      pending: 'reject',
    });
    return { store, started: started as Started };
  };
  const outcome = { outcome: 'complete' } as const;
  const end = { outcome, content: { format: 2 as const, parts: [] } };
  const runEnd: AgentEvent = { type: 'run-end', ...outcome };

  it('finishes with the unwritten events and delivers them once durable', async () => {
    const { store, started } = await start();
    const flusher = createRunFlusher({ log: store.log });
    const writer = flusher.open(started);
    const read: Array<CommittedBatch | null> = [];
    flusher.follow(started.run.key, (batch) => read.push(batch));
    writer.write(notice('a'));
    await writer.barrier();
    writer.write(delta('b'));
    writer.write(runEnd);
    const result = await writer.finish((rest) =>
      store.registry.finish(started.run.key, started.epoch, { ...rest, ...end }),
    );
    expect(result.result).toBe('ok');
    const bytes = expect.any(Number) as number;
    expect(read).toEqual([
      { epoch: 1, seq: 1, events: [notice('a')], bytes },
      { epoch: 1, seq: 2, events: [delta('b'), runEnd], bytes },
      null,
    ]);
    expect((await store.log.read(started.run.key, { epoch: 0, seq: 0 })).events).toEqual([
      notice('a'),
      delta('b'),
      runEnd,
    ]);
    writer.write(notice('late'));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits for the batch in flight before the end', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(runEnd);
    const commit = vi.fn<(rest: unknown) => Promise<{ result: 'fenced' }>>(async () => ({ result: 'fenced' }));
    const finished = writer.finish(commit);
    statements[0]!.answer();
    await vi.advanceTimersByTimeAsync(0);
    statements[1]!.answer();
    expect(await finished).toEqual({ result: 'fenced' });
    expect(commit.mock.calls).toEqual([[{ nextSeq: 3, events: [] }]]);
  });

  it('retries the end while the database is unreachable, but not a refusal', async () => {
    const { flusher } = setup();
    let attempts = 0;
    const commit = async (): Promise<never> => {
      attempts += 1;
      throw attempts < 3 ? new Error('away') : new StoreError('invalid', 'no');
    };
    const refused = vi.fn<(error: unknown) => void>();
    void flusher.open(owned()).finish(commit).catch(refused);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(refused).toHaveBeenCalledWith(expect.objectContaining({ message: 'no' }));
    expect(attempts).toBe(3);
  });

  it('does not commit the end of a lost run', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    const commit = vi.fn<() => Promise<never>>();
    const finished = writer.finish(commit);
    statements[0]!.answer('fenced');
    expect(await finished).toEqual({ result: 'fenced' });
    expect(await writer.finish(commit)).toEqual({ result: 'fenced' });
    expect(commit).not.toHaveBeenCalled();
  });

  it('closes without leaving timers or waiting callers', async () => {
    const { flusher, statements } = setup({ byHand: true });
    const writer = flusher.open(owned());
    writer.write(notice('a'));
    await vi.advanceTimersByTimeAsync(0);
    writer.write(notice('b'));
    const passed = vi.fn<(error: unknown) => void>();
    void writer.barrier().catch(passed);
    const closed = flusher.close();
    statements[0]!.answer();
    await closed;
    await vi.waitFor(() => expect(passed).toHaveBeenCalledWith(expect.objectContaining({ reason: 'closed' })));
    expect(vi.getTimerCount()).toBe(0);
    expect(flusher.open(owned('r2')).lost).toBe('closed');
  });

  it('replaces the writer when the same process owns the run again', () => {
    const { flusher } = setup();
    const first = flusher.open(owned());
    const second = flusher.open({ ...owned(), epoch: 2 } satisfies Pick<Ownership, 'epoch'> & object);
    expect([first.lost, second.lost]).toEqual(['fenced', undefined]);
  });
});
