import { DatabaseUnavailableError } from '../store/database-unavailable-error.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Store } from '../store/store.ts';
import type { Outcome } from '../event/outcome.ts';
import { pullStream } from '../stream/pull-stream.ts';
import type { LocalRuns } from './run-flusher.ts';
import type { LogPosition, RunKey } from '../store/run-log.ts';
import type { RunWatcher } from './run-watcher.ts';
import type { CommittedBatch } from './run-writer.ts';
import type { Scope } from '../store/scope.ts';

export type FollowOptions = {
  store: Pick<Store, 'log' | 'registry'>;
  watcher: RunWatcher;
  scope: Scope;
  run: RunKey;
  /** Position to resume after. Default: the beginning. */
  after?: LogPosition;
  /** Runs that this process writes. */
  local?: LocalRuns;
  /** Receives a function that fails the stream. Returns a callback for the end of the stream. */
  onOpen?: (fail: (reason: Error) => void) => () => void;
  /** Called with the time from when new events were available in this process until the reader took them, for metrics. */
  onDelivered?: (lagMs: number) => void;
  /** Maximum size of the events buffered for a slow reader, which then reads the log. Default: 256 kB. */
  maxPushedBytes?: number;
  /** Maximum time that the log may be unreachable; then the stream fails with a `DatabaseUnavailableError`. Default: 30 s. */
  maxOutageMs?: number;
  /** Delay between two attempts. Default: 250 ms. */
  retryMs?: number;
};

export type Followed =
  /** Consecutive events of the same epoch. `position` is that of the last one. */
  | { type: 'events'; events: readonly AgentEvent[]; position: LogPosition }
  /** `after` is not a position of this log: discard all events, they are sent again. */
  | { type: 'reset' }
  /**
   * The run ended without a `run-end` in its log. The event is derived from the registry and has no position. `isWaiting`: the run is
   * live and waits in its process, which is an end only for this reader.
   */
  | { type: 'ended'; event: EventOf<'run-end'>; isWaiting?: true }
  /** The log has been dropped: read the message instead. */
  | { type: 'dropped' };

const beginning: LogPosition = { epoch: 0, seq: 0 };

/**
 * Streams a run from any position to its end: first the events in the log, then new ones. Local runs are pushed; for others the
 * watcher signals when to read. Sequence numbers exclude duplicates and gaps, whichever way the events arrive. The stream closes
 * after the end of the run. It fails only if the log is unreachable, so that no reader mistakes that for an end.
 */
export function followRun(options: FollowOptions): ReadableStream<Followed> {
  const { store, scope, run, local, maxPushedBytes = 256 * 1024, maxOutageMs = 30_000, retryMs = 250 } = options;
  let seen = options.after ?? beginning;
  let isFirst = true;
  /** Whether the log has to be read next. */
  let isBehind = true;
  let mayHaveEnded = false;
  /** Time of the first reply of the log that lacked events of an ended run. */
  let lackingSince: number | undefined;
  let isDropped = false;
  let pushed: CommittedBatch[] = [];
  let pushedBytes = 0;
  let isClosed = false;
  /** Time at which the oldest undelivered events became available. */
  let availableAt: number | undefined;
  let isSignaled = false;
  let wake: (() => void) | undefined;

  const signal = (): void => {
    isSignaled = true;
    wake?.();
  };
  const waitForSignal = (ms?: number): Promise<void> =>
    new Promise((resolve) => {
      if (isSignaled && ms === undefined) return resolve();
      const timer = ms === undefined ? undefined : setTimeout(() => wake?.(), ms);
      wake = () => {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      };
      return undefined;
    });

  const clearPushed = (): void => {
    pushed = [];
    pushedBytes = 0;
  };

  const enqueue = (batch: CommittedBatch): void => {
    pushed.push(batch);
    pushedBytes += batch.bytes;
  };

  const onBatch = (batch: CommittedBatch | null): void => {
    availableAt ??= performance.now();
    if (batch === null) {
      isBehind = true;
    } else if (pushedBytes + batch.bytes > maxPushedBytes && pushed.length > 0) {
      clearPushed();
      isBehind = true;
    } else enqueue(batch);
    signal();
  };

  // Subscribes before reading the log, so that no event written in between is missed.
  const unfollowLocal = local?.follow(run, onBatch);
  const unwatch = options.watcher.watch(run, (position) => {
    if (!position?.live) mayHaveEnded = true;
    else if (!local?.writes(run) && position.next - 1 > seen.seq) isBehind = true;
    else return;
    availableAt ??= performance.now();
    signal();
  });

  // The log is still empty, so all events will be pushed.
  if (!options.after && local?.isUnwritten(run)) {
    isBehind = false;
    isFirst = false;
  }

  let onClosed: (() => void) | undefined;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClosed?.();
    unwatch();
    unfollowLocal?.();
    clearPushed();
    signal();
  };

  const retryRead = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (isClosed) throw error;
        if (performance.now() - startedAt >= maxOutageMs) throw toReaderError(error);
        await waitForSignal(retryMs);
      }
    }
  };

  /** Reads the next page of the log; undefined at its tail. */
  const readFromLog = async (): Promise<Followed | undefined> => {
    isBehind = false;
    const page = await retryRead(() => store.log.read(run, seen));
    const wasFirst = isFirst;
    isFirst = false;
    if (page.dropped) {
      if (wasFirst) return { type: 'dropped' };
      isDropped = true;
      mayHaveEnded = true;
      return undefined;
    }
    if (!page.valid) {
      isBehind = true;
      seen = beginning;
      return { type: 'reset' };
    }
    if (page.position.seq < page.tail) isBehind = true;
    if (page.events.length === 0) return undefined;
    seen = page.position;
    return { type: 'events', events: page.events, position: seen };
  };

  /**
   * Returns the pushed events that are new; undefined if there are none. Batches are combined: the busier the process, the fewer
   * and larger the items. A single batch is passed on without a copy, shared by all readers.
   */
  const takePushed = (): Followed | undefined => {
    const batches = pushed;
    clearPushed();
    let events: readonly AgentEvent[] = [];
    for (const [index, batch] of batches.entries()) {
      const last = batch.seq + batch.events.length - 1;
      if (last <= seen.seq) continue;
      if (batch.seq > seen.seq + 1) {
        isBehind = true;
        break;
      }
      if (events.length > 0 && batch.epoch !== seen.epoch) {
        for (const rest of batches.slice(index)) enqueue(rest);
        break;
      }
      const fresh = batch.seq > seen.seq ? batch.events : batch.events.slice(seen.seq + 1 - batch.seq);
      events = events.length === 0 ? fresh : [...events, ...fresh];
      seen = { epoch: batch.epoch, seq: last };
    }
    return events.length > 0 ? { type: 'events', events, position: seen } : undefined;
  };

  /** Whether the log has lacked events of an ended run for so long that they count as lost. */
  const isOverdue = (): boolean => performance.now() - (lackingSince ??= performance.now()) >= maxOutageMs;

  /** Returns the end of a run that is no longer live, from the log if it has one. */
  const readEndFromRegistry = async (): Promise<Followed | undefined> => {
    mayHaveEnded = false;
    const record = await retryRead(() => store.registry.getRun(scope, run));
    if (record?.state === 'queued' || record?.state === 'running') return undefined;
    const last = await readFromLog();
    if (last || isBehind) return last;
    // All events but the end are in the log before the registry ends a run, so a detached log has answered from an old state.
    const isLost = record?.outcome?.outcome === 'error' && record.outcome.error.code === 'log-lost';
    if (seen.seq < (record?.lastSeq ?? 0) - 1 && !isDropped && !isLost && !isOverdue()) {
      mayHaveEnded = true;
      await waitForSignal(retryMs);
      return undefined;
    }
    const outcome: Outcome = record?.outcome ?? { outcome: 'aborted', by: 'system', reason: 'deleted' };
    const at = record?.endedAt === undefined ? {} : { at: record.endedAt.getTime() };
    return { type: 'ended', event: { type: 'run-end', ...outcome, ...at } };
  };

  /** Whether the pushed batches continue at the reader's position, so that the log does not have to be read. */
  const isContiguous = (): boolean => !isFirst && pushed.length > 0 && pushed[0]!.seq <= seen.seq + 1;

  const next = async (): Promise<Followed | undefined> => {
    if (isBehind && !isContiguous()) return readFromLog();
    if (pushed.length > 0) return takePushed();
    if (mayHaveEnded) return readEndFromRegistry();
    await waitForSignal();
    return undefined;
  };

  return pullStream<Followed>({
    start: (_emit, fail) => void (onClosed = options.onOpen?.(fail)),
    async pull(emit) {
      isSignaled = false;
      const item = await next();
      if (isClosed || !item) return !isClosed;
      emit(item);
      if (availableAt !== undefined) {
        const now = performance.now();
        options.onDelivered?.(now - availableAt);
        availableAt = isBehind || pushed.length > 0 ? now : undefined;
      }
      if (!isLast(item)) return true;
      close();
      return false;
    },
    cancel: close,
  });
}

/** Creates the error that a reader gets. Users see it, so it does not contain the text of the driver's error. */
function toReaderError(error: unknown): unknown {
  if (!(error instanceof DatabaseUnavailableError)) return error;
  const text = 'The database has not answered for too long, so the run cannot be read now.';
  return new DatabaseUnavailableError(`${text} The run itself is not affected. Open it again later.`, { cause: error });
}

function isLast(item: Followed): boolean {
  if (item.type === 'events') return item.events.at(-1)?.type === 'run-end';
  return item.type === 'ended' || item.type === 'dropped';
}
