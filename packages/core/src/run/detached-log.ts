import type { Hints } from '../store/hints.ts';
import type { Appended, LogBatch, LogPage, LogPosition, RunKey } from '../store/run-log.ts';

/** Result of appending a batch. Stop requests are not among them: only the registry knows of those. */
export type DetachedAppended = Exclude<Appended, 'stop'>;

/** Number of the next event. `ended`: the log is closed or dropped, and accepts no events. */
export type DetachedPosition = { next: number; ended: boolean };

/**
 * A log outside the registry's database, which shares neither transactions nor state with it. It holds the events, their numbers
 * and the fence; `withDetachedLog` combines it with a store that knows everything else.
 */
export interface DetachedLog {
  /**
   * Returns one result per batch, in order. Each batch is written whole or not at all, and is durable before the result. The first
   * batch of a run (number 1) creates its log. A batch with a higher number of an unknown run is `regressed`: the log was lost.
   */
  append(batches: readonly LogBatch[]): Promise<readonly DetachedAppended[]>;
  /**
   * Fences earlier epochs after the registry has assigned the run to this one. Returns the number of the next event, which then
   * stays the same until this epoch writes. `fenced`: a later epoch has called before. Epoch 0, which no run has, owns only a log
   * without events.
   */
  own(run: RunKey, epoch: number): Promise<number | 'fenced' | 'ended'>;
  /** Like `RunLog.read`. Returns null for an unknown run: a new one, or one dropped long ago. */
  read(run: RunKey, after: LogPosition, limit: number): Promise<LogPage | null>;
  /** Returns the positions of the runs that are known. */
  positions(runs: readonly RunKey[]): Promise<ReadonlyMap<RunKey, DetachedPosition>>;
  /**
   * Appends the last events of a run and closes its log. If events before them were lost, or they are already there, it only closes
   * the log.
   */
  close(last: LogBatch): Promise<void>;
  /**
   * Deletes the events and refuses new ones of these runs, for as long as a process may send them. A log that was never dropped,
   * because its process died first, has to expire in the log. `erase`: a user has deleted the runs, so no copy of their events may
   * remain; otherwise it is sufficient that they cannot be read, and expire later.
   */
  drop(runs: readonly RunKey[], options?: { erase?: boolean }): Promise<void>;
}

/** A log that a server opens when it starts and closes when it ends. */
export type OpenedLog = {
  log: DetachedLog;
  /** Bus for the notifications of new events. Default: that of the store. */
  hints?: Hints;
  close(): Promise<void>;
};

/** Definition of a log in a server's configuration. `open` rejects if the log cannot be reached. */
export interface LogDefinition {
  /** `onError` is called for failures that are retried. */
  open(options?: { onError?: (error: unknown) => void }): Promise<OpenedLog>;
}
