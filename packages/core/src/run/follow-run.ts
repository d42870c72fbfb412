import { DatabaseAwayError } from '../store/database-away-error.ts';
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
  /** Where to go on; from the beginning unless given. */
  after?: LogPosition;
  /** The runs that this process writes itself. */
  local?: LocalRuns;
  /** Is given the way to break the stream off with an error, and gives what to call when the stream is over. */
  onOpen?: (fail: (reason: Error) => void) => () => void;
  /** Called with the time from when new events were available in this process until the reader took them, for metrics. */
  onDelivered?: (lagMs: number) => void;
  /** How much is kept in memory for a reader that does not keep up; after that it reads the log. 256 kB unless given. */
  maxPushedBytes?: number;
  /** Maximum time that the log may be unreachable; then the stream fails with a `DatabaseAwayError`. Default: 30 s. */
  patienceMs?: number;
  /** How long to wait between two tries. 250 ms unless given. */
  retryMs?: number;
};

export type Followed =
  /** Consecutive events. `position` is that of the last; each before has the same epoch and the number before. */
  | { type: 'events'; events: readonly AgentEvent[]; position: LogPosition }
  /** `after` was no position of this log: forget what you have, all of it comes again. */
  | { type: 'reset' }
  /** The run has ended without a word in its log. Made up from what is known of the run; it has no position. */
  | { type: 'ended'; event: EventOf<'run-end'> }
  /** The log is not kept any more: read the message instead. */
  | { type: 'dropped' };

const beginning: LogPosition = { epoch: 0, seq: 0 };

/**
 * A run from any position on: first what is in the log, then what comes, to the end. Local runs are pushed; of others the
 * watcher says when to read. Nothing comes twice and nothing is missed, whichever way it comes: numbers decide. The stream
 * closes after the end of the run. It fails only where the log is out of reach, so that nobody takes that for an end.
 */
export function followRun(options: FollowOptions): ReadableStream<Followed> {
  const { store, scope, run, local, maxPushedBytes = 256 * 1024, patienceMs = 30_000, retryMs = 250 } = options;
  let seen = options.after ?? beginning;
  let isFirst = true;
  /** Whether the log has to be read before anything else. */
  let isBehind = true;
  let mayHaveEnded = false;
  let pushed: CommittedBatch[] = [];
  let pushedBytes = 0;
  let over = false;
  /** When the oldest events that the reader has not taken became available. */
  let availableAt: number | undefined;
  let isNudged = false;
  let wake: (() => void) | undefined;

  const nudge = (): void => {
    isNudged = true;
    wake?.();
  };
  const nudged = (ms?: number): Promise<void> =>
    new Promise((resolve) => {
      if (isNudged && ms === undefined) return resolve();
      const timer = ms === undefined ? undefined : setTimeout(() => wake?.(), ms);
      wake = () => {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      };
      return undefined;
    });

  const forget = (): void => {
    pushed = [];
    pushedBytes = 0;
  };

  const hold = (batch: CommittedBatch): void => {
    pushed.push(batch);
    pushedBytes += batch.bytes;
  };

  const onBatch = (batch: CommittedBatch | null): void => {
    availableAt ??= performance.now();
    if (batch === null) {
      isBehind = true;
    } else if (pushedBytes + batch.bytes > maxPushedBytes && pushed.length > 0) {
      forget();
      isBehind = true;
    } else hold(batch);
    nudge();
  };

  // Those who tell come first, and the log after: what is written between the two is told.
  const leaveLocal = local?.follow(run, onBatch);
  const unwatch = options.watcher.watch(run, (position) => {
    if (!position?.live) mayHaveEnded = true;
    else if (!local?.writes(run) && position.next - 1 > seen.seq) isBehind = true;
    else return;
    availableAt ??= performance.now();
    nudge();
  });

  // Where nothing is in the log yet, there is nothing before what is told.
  if (!options.after && local?.isUnwritten(run)) {
    isBehind = false;
    isFirst = false;
  }

  let onLeave: (() => void) | undefined;
  const leave = (): void => {
    if (over) return;
    over = true;
    onLeave?.();
    unwatch();
    leaveLocal?.();
    forget();
    nudge();
  };

  const patiently = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const begun = performance.now();
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (over) throw error;
        if (performance.now() - begun >= patienceMs) throw toReaderError(error);
        await nudged(retryMs);
      }
    }
  };

  /** What the log has next; undefined at its tail. */
  const fromLog = async (): Promise<Followed | undefined> => {
    isBehind = false;
    const page = await patiently(() => store.log.read(run, seen));
    const wasFirst = isFirst;
    isFirst = false;
    if (page.dropped) {
      if (wasFirst) return { type: 'dropped' };
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
   * What was pushed and is new; undefined where there is nothing of the kind. All of it together: the busier the process, the
   * fewer and the larger the pieces. What is given as it came is the same to all readers of the run.
   */
  const fromPushed = (): Followed | undefined => {
    const batches = pushed;
    forget();
    let events: readonly AgentEvent[] = [];
    for (const [index, batch] of batches.entries()) {
      const last = batch.seq + batch.events.length - 1;
      if (last <= seen.seq) continue;
      if (batch.seq > seen.seq + 1) {
        isBehind = true;
        break;
      }
      if (events.length > 0 && batch.epoch !== seen.epoch) {
        for (const rest of batches.slice(index)) hold(rest);
        break;
      }
      const fresh = batch.seq > seen.seq ? batch.events : batch.events.slice(seen.seq + 1 - batch.seq);
      events = events.length === 0 ? fresh : [...events, ...fresh];
      seen = { epoch: batch.epoch, seq: last };
    }
    return events.length > 0 ? { type: 'events', events, position: seen } : undefined;
  };

  /** The end of a run that is not live: the log has the last word, if it has one. */
  const fromRegistry = async (): Promise<Followed | undefined> => {
    mayHaveEnded = false;
    const record = await patiently(() => store.registry.getRun(scope, run));
    if (record?.state === 'queued' || record?.state === 'running') return undefined;
    const last = await fromLog();
    if (last || isBehind) return last;
    const outcome: Outcome = record?.outcome ?? { outcome: 'aborted', by: 'system', reason: 'deleted' };
    const at = record?.endedAt === undefined ? {} : { at: record.endedAt.getTime() };
    return { type: 'ended', event: { type: 'run-end', ...outcome, ...at } };
  };

  /** Whether what was pushed goes on where the reader is: then it needs no log, behind or not. */
  const goesOn = (): boolean => !isFirst && pushed.length > 0 && pushed[0]!.seq <= seen.seq + 1;

  const next = async (): Promise<Followed | undefined> => {
    if (isBehind && !goesOn()) return fromLog();
    if (pushed.length > 0) return fromPushed();
    if (mayHaveEnded) return fromRegistry();
    await nudged();
    return undefined;
  };

  return pullStream<Followed>({
    start: (_emit, fail) => void (onLeave = options.onOpen?.(fail)),
    async pull(emit) {
      isNudged = false;
      const item = await next();
      if (over || !item) return !over;
      emit(item);
      if (availableAt !== undefined) {
        const now = performance.now();
        options.onDelivered?.(now - availableAt);
        availableAt = isBehind || pushed.length > 0 ? now : undefined;
      }
      if (!isLast(item)) return true;
      leave();
      return false;
    },
    cancel: leave,
  });
}

/** Creates the error that a reader gets. Users see it, so it does not contain the text of the driver's error. */
function toReaderError(error: unknown): unknown {
  if (!(error instanceof DatabaseAwayError)) return error;
  const text = 'The database has not answered for too long, so the run cannot be read now.';
  return new DatabaseAwayError(`${text} The run itself is not affected. Open it again later.`, { cause: error });
}

function isLast(item: Followed): boolean {
  if (item.type === 'events') return item.events.at(-1)?.type === 'run-end';
  return item.type === 'ended' || item.type === 'dropped';
}
