import type { Appended, LogBatch, LogPage, LogPosition, RunKey } from '../store/run-log.ts';

/** What a log says of a batch by itself. It is not told of stops: whoever follows `positions` is. */
export type DetachedAppended = Exclude<Appended, 'stop'>;

/** The number of the next event; `ended`: the log is closed or dropped, and takes none. */
export type DetachedPosition = { next: number; ended: boolean };

/**
 * A log in another place than the registry: it shares no transaction and no state with it. It has the events, the numbers and
 * the fence, and no more is asked of it: `withDetachedLog` joins it to a store, and knows the rest from there.
 */
export interface DetachedLog {
  /**
   * One answer per batch, in order, each written whole or not at all, and durable before the answer. The first batch of a run
   * (number 1) makes its log. A batch with a number above 1 of a run that is not known is `regressed`: the log was lost.
   */
  append(batches: readonly LogBatch[]): Promise<readonly DetachedAppended[]>;
  /**
   * The registry has given the run to this epoch, so that earlier ones write no more. Gives the number of the next event: from
   * here on it stands still until this epoch writes. `fenced`: a later epoch has been here.
   */
  own(run: RunKey, epoch: number): Promise<number | 'fenced' | 'ended'>;
  /** As `RunLog.read`. Null: the run is not known, be it new or long forgotten. */
  read(run: RunKey, after: LogPosition, limit: number): Promise<LogPage | null>;
  /** Of those that are known. */
  positions(runs: readonly RunKey[]): Promise<ReadonlyMap<RunKey, DetachedPosition>>;
  /**
   * Adds the last events of a run and takes none after them. Where events before them were lost, or they are there already,
   * it adds none and closes all the same.
   */
  close(last: LogBatch): Promise<void>;
  /**
   * Deletes the events, and takes none of these runs any more: that is remembered for as long as a process may try. What was
   * never dropped, since its process died first, has to go by itself one day.
   */
  drop(runs: readonly RunKey[]): Promise<void>;
}
