import { pause } from '../stream/pause.ts';
import type { Ownership } from '../store/registry.ts';
import type { Appended, RunKey, RunLog } from '../store/run-log.ts';
import {
  createRunWriter,
  type CommittedBatch,
  type HostedWriter,
  type RunWriter,
  type RunWriterOptions,
} from './run-writer.ts';
import { StoreError } from '../store/store-error.ts';

export type RunFlusherOptions = {
  log: RunLog;
  /** The time from what is written to what is durable, while the database keeps up. 40 ms unless given. */
  tickMs?: number;
  /** How much of one run goes into one statement. 256 kB unless given. */
  maxBatchBytes?: number;
  /** How much of one run may wait to be written before `ready` waits. 4 MB unless given. */
  maxRunBytes?: number;
  /** How much of all runs may. 64 MB unless given. */
  maxBytes?: number;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
  /** Is told of every statement that failed; it is tried again. */
  onError?: (error: unknown) => void;
  /** Called after each attempt to append to the log, for metrics. */
  onFlush?: (flush: FlushReport) => void;
};

/** One attempt to append events to the log: its duration, the number of runs in it, and whether it failed. */
export type FlushReport = { ms: number; runs: number; failed: boolean };

/** A reader in the same process: it is given what has become durable, and null when its process writes no more of it. */
export type LocalReader = (batch: CommittedBatch | null) => void;

/** Where the runs that this process writes can be followed without reading the log. */
export interface LocalRuns {
  /** Whether this process writes the run just now. */
  writes(run: RunKey): boolean;
  /** Whether this process writes the run, and nothing of it is in the log yet: all of it will be given. */
  isUnwritten(run: RunKey): boolean;
  /** Gives what this process writes of the run from now on, also if it only begins later. Returns the way to leave. */
  follow(run: RunKey, reader: LocalReader): () => void;
}

export interface RunFlusher extends LocalRuns {
  open(owned: Pick<Ownership, 'epoch' | 'nextSeq'> & { run: { key: RunKey } }, options?: RunWriterOptions): RunWriter;
  /** Waits for what is under way. What is not durable then is lost to its writers, and in the log of nobody. */
  close(): Promise<void>;
}

const maxInFlight = 2;
/** Of the time between two flushes the database works a quarter at most. */
const restFactor = 4;
/** So many slow statements in a row are a slow database. Fewer are a new connection, a collection, a busy moment. */
const slowInARow = 4;
const maxRetryMs = 1_000;

/**
 * One per process: the events of all its runs go to the log in one statement per tick. The first event after a silence
 * goes at once, and so does what somebody waits for at a barrier. Log first, deliver after: readers in this process are
 * given a batch when it is durable, and never before.
 */
export function createRunFlusher(options: RunFlusherOptions): RunFlusher {
  const { log, tickMs = 40, now = () => performance.now(), onError, onFlush } = options;
  const { maxBatchBytes = 256 * 1024, maxRunBytes = 4 * 2 ** 20, maxBytes = 64 * 2 ** 20 } = options;
  const writers = new Map<RunKey, HostedWriter>();
  const readers = new Map<RunKey, Set<LocalReader>>();
  const dirty = new Set<HostedWriter>();
  const inFlight = new Set<Promise<void>>();
  let bytes = 0;
  let lastStart = -Infinity;
  const durations = Array.from({ length: slowInARow }, () => 0);
  let failures = 0;
  let retryAt = -Infinity;
  let timer: { due: number; id: ReturnType<typeof setTimeout> } | undefined;
  let closed = false;
  /** Aborts when the flusher closes, to end the delay before a retry. */
  const closing = new AbortController();

  const clearTimer = (): void => {
    clearTimeout(timer?.id);
    timer = undefined;
  };

  /** A statement takes its time too: it begins early enough to be done with the tick. */
  const interval = (): number => {
    const lead = Math.min(Math.max(...durations), tickMs / 2);
    return Math.max(tickMs - lead, restFactor * Math.min(...durations));
  };

  const schedule = (isUrgent: boolean): void => {
    if (closed || dirty.size === 0 || inFlight.size >= maxInFlight) return;
    if (timer && !isUrgent) return;
    const due = Math.max(isUrgent ? -Infinity : lastStart + interval(), retryAt);
    const delay = due - now();
    if (isUrgent && delay <= 0) return flush();
    if (timer && timer.due <= due) return;
    clearTimer();
    // Also at once is a turn later: what a source says in one breath goes together.
    timer = { due, id: setTimeout(flush, Math.max(0, delay)) };
  };

  const flush = (): void => {
    clearTimer();
    // The end of a run may have taken what it had to write.
    const flushed = [...dirty].filter((writer) => writer.isDirty());
    dirty.clear();
    if (flushed.length === 0) return;
    const work = write(flushed).finally(() => {
      inFlight.delete(work);
      for (const writer of flushed) if (writer.isDirty()) dirty.add(writer);
      for (const writer of writers.values()) writer.admit();
      schedule([...dirty].some((writer) => writer.isUrgent()));
    });
    inFlight.add(work);
  };

  const write = async (flushed: readonly HostedWriter[]): Promise<void> => {
    const start = now();
    lastStart = start;
    let verdicts: readonly Appended[];
    try {
      verdicts = await log.append(flushed.map((writer) => writer.take()));
    } catch (error) {
      retryAt = now() + backOff();
      for (const writer of flushed) writer.release();
      onFlush?.({ ms: now() - start, runs: flushed.length, failed: true });
      onError?.(error);
      return;
    }
    const ms = now() - start;
    durations.shift();
    durations.push(ms);
    onFlush?.({ ms, runs: flushed.length, failed: false });
    failures = 0;
    for (const [index, writer] of flushed.entries()) writer.judge(verdicts[index] ?? 'locked');
  };

  const backOff = (): number => Math.min(tickMs * 2 ** failures++, maxRetryMs);

  /** A refusal is an answer; whatever else goes wrong may go right the next time. */
  const persist = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (closed || error instanceof StoreError) throw error;
        onError?.(error);
        await pause(Math.min(tickMs * 2 ** attempt, maxRetryMs), closing.signal).catch(() => undefined);
      }
    }
  };

  const deliver = (run: RunKey, batch: CommittedBatch | null): void => {
    const all = readers.get(run);
    // One task each: a reader that throws takes the batch from no other.
    for (const reader of all ?? []) queueMicrotask(() => void (all!.has(reader) && reader(batch)));
  };

  return {
    open({ run: { key }, epoch, nextSeq }, writerOptions = {}) {
      writers.get(key)?.lose('fenced');
      const writer = createRunWriter(
        key,
        epoch,
        nextSeq,
        {
          maxBatchBytes,
          hasRoom: (held) => held < maxRunBytes && bytes < maxBytes,
          grew: (more) => void (bytes += more),
          wake: (urgent) => {
            if (writer.isDirty()) dirty.add(writer);
            schedule(urgent && writer.isUrgent());
          },
          deliver: (batch) => deliver(key, batch),
          persist,
          left: () => {
            dirty.delete(writer);
            if (dirty.size === 0) clearTimer();
            writers.delete(key);
            deliver(key, null);
          },
        },
        writerOptions,
      );
      if (closed) writer.lose('closed');
      else writers.set(key, writer);
      return writer;
    },

    writes: (run) => writers.has(run),
    isUnwritten: (run) => writers.get(run)?.isUnwritten() ?? false,

    follow(run, reader) {
      const own: LocalReader = (batch) => reader(batch);
      let all = readers.get(run);
      if (!all) readers.set(run, (all = new Set()));
      all.add(own);
      return () => {
        all.delete(own);
        if (all.size === 0 && readers.get(run) === all) readers.delete(run);
      };
    },

    async close() {
      closed = true;
      clearTimer();
      closing.abort();
      await Promise.all(inFlight);
      for (const writer of writers.values()) writer.lose('closed');
    },
  };
}
