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
  /** Time from writing an event until it is durable, while the database keeps up. Default: 40 ms. */
  tickMs?: number;
  /** Maximum size of one run's batch in a statement. Default: 256 kB. */
  maxBatchBytes?: number;
  /** Maximum size of the unwritten events of one run; beyond it, `waitForRoom` waits. Default: 4 MB. */
  maxRunBytes?: number;
  /** Maximum size of the unwritten events of all runs. Default: 64 MB. */
  maxBytes?: number;
  /** Monotonic clock, in milliseconds. */
  now?: () => number;
  /** Called for every failed statement; it is retried. */
  onError?: (error: unknown) => void;
  /** Called after each attempt to append to the log, for metrics. */
  onFlush?: (flush: FlushReport) => void;
};

/** One attempt to append events to the log: its duration, the number of runs in it, and whether it failed. */
export type FlushReport = { ms: number; runs: number; failed: boolean };

/** Reader in the same process. Receives each durable batch, and null when this process stops writing the run. */
export type LocalReader = (batch: CommittedBatch | null) => void;

/** The runs that this process writes. They can be followed without reading the log. */
export interface LocalRuns {
  /** Whether this process currently writes the run. */
  writes(run: RunKey): boolean;
  /** Whether this process writes the run and its log is still empty, so that a new reader receives all of it. */
  isUnwritten(run: RunKey): boolean;
  /** Delivers the batches that this process writes from now on, or starts to write later. Returns the unsubscribe function. */
  follow(run: RunKey, reader: LocalReader): () => void;
}

export interface RunFlusher extends LocalRuns {
  open(owned: Pick<Ownership, 'epoch' | 'nextSeq'> & { run: { key: RunKey } }, options?: RunWriterOptions): RunWriter;
  /** Waits for statements in flight. Events that are not durable by then are lost. */
  close(): Promise<void>;
}

const maxInFlight = 2;
/** Flush interval in multiples of a statement's duration: the database works at most a quarter of the time. */
const intervalFactor = 4;
/** Slow statements in a row that mean a slow database. Fewer are a new connection, a garbage collection or a busy moment. */
const slowStreak = 4;
const maxRetryMs = 1_000;

/**
 * Writes the events of all runs of a process to the log, in one statement per tick. The first event after a pause is flushed
 * immediately, and so are events before a barrier. Readers in this process receive a batch only once it is durable.
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
  const durations = Array.from({ length: slowStreak }, () => 0);
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

  /** Time between two flushes. A statement starts early enough to finish with the tick. */
  const interval = (): number => {
    const lead = Math.min(Math.max(...durations), tickMs / 2);
    return Math.max(tickMs - lead, intervalFactor * Math.min(...durations));
  };

  const schedule = (isUrgent: boolean): void => {
    if (closed || dirty.size === 0 || inFlight.size >= maxInFlight) return;
    if (timer && !isUrgent) return;
    const due = Math.max(isUrgent ? -Infinity : lastStart + interval(), retryAt);
    const delay = due - now();
    if (isUrgent && delay <= 0) return flush();
    if (timer && timer.due <= due) return;
    clearTimer();
    // Even an immediate flush waits for the next task, so that events emitted together are written together.
    timer = { due, id: setTimeout(flush, Math.max(0, delay)) };
  };

  const flush = (): void => {
    clearTimer();
    // `finish` may have taken the events of a writer since.
    const flushed = [...dirty].filter((writer) => writer.isDirty());
    dirty.clear();
    if (flushed.length === 0) return;
    const work = write(flushed).finally(() => {
      inFlight.delete(work);
      for (const writer of flushed) if (writer.isDirty()) dirty.add(writer);
      for (const writer of writers.values()) writer.resumeWaiting();
      schedule([...dirty].some((writer) => writer.isUrgent()));
    });
    inFlight.add(work);
  };

  const write = async (flushed: readonly HostedWriter[]): Promise<void> => {
    const start = now();
    lastStart = start;
    let verdicts: readonly Appended[];
    try {
      verdicts = await log.append(flushed.map((writer) => writer.takeBatch()));
    } catch (error) {
      retryAt = now() + nextRetryDelay();
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
    for (const [index, writer] of flushed.entries()) writer.applyVerdict(verdicts[index] ?? 'locked');
  };

  const nextRetryDelay = (): number => Math.min(tickMs * 2 ** failures++, maxRetryMs);

  /** Retries until the call succeeds. A `StoreError` is a refusal, and is not retried. */
  const retry = async <Result>(call: () => Promise<Result>): Promise<Result> => {
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
    const runReaders = readers.get(run);
    // One task per reader: if one throws, the others still receive the batch.
    for (const reader of runReaders ?? []) queueMicrotask(() => void (runReaders!.has(reader) && reader(batch)));
  };

  return {
    open({ run: { key }, epoch, nextSeq }, writerOptions = {}) {
      writers.get(key)?.loseOwnership('fenced');
      const writer = createRunWriter(
        key,
        epoch,
        nextSeq,
        {
          maxBatchBytes,
          hasRoom: (held) => held < maxRunBytes && bytes < maxBytes,
          addBytes: (delta) => void (bytes += delta),
          requestFlush: (urgent) => {
            if (writer.isDirty()) dirty.add(writer);
            schedule(urgent && writer.isUrgent());
          },
          deliver: (batch) => deliver(key, batch),
          retry,
          onClosed: () => {
            dirty.delete(writer);
            if (dirty.size === 0) clearTimer();
            writers.delete(key);
            deliver(key, null);
          },
        },
        writerOptions,
      );
      if (closed) writer.loseOwnership('closed');
      else writers.set(key, writer);
      return writer;
    },

    writes: (run) => writers.has(run),
    isUnwritten: (run) => writers.get(run)?.isUnwritten() ?? false,

    follow(run, reader) {
      const subscription: LocalReader = (batch) => reader(batch);
      let runReaders = readers.get(run);
      if (!runReaders) readers.set(run, (runReaders = new Set()));
      runReaders.add(subscription);
      return () => {
        runReaders.delete(subscription);
        if (runReaders.size === 0 && readers.get(run) === runReaders) readers.delete(run);
      };
    },

    async close() {
      closed = true;
      clearTimer();
      closing.abort();
      await Promise.all(inFlight);
      for (const writer of writers.values()) writer.loseOwnership('closed');
    },
  };
}
