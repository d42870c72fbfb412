import type { AgentEvent } from '../event/event.ts';

declare const brand: unique symbol;

/**
 * Key of a run, unique in the store. Run ids are chosen by clients, and two threads or scopes may use the same one; a key comes
 * from the registry (`started.run.key`, `findRun`).
 */
export type RunKey = string & { readonly [brand]: 'RunKey' };

/** Cursor into a run's log: the writer's epoch and the number of the last event read. `{ epoch: 0, seq: 0 }` is the beginning. */
export type LogPosition = { epoch: number; seq: number };

/** Consecutive events of one run; the first has the number `seq` (the first of a run is 1). */
export type LogBatch = { run: RunKey; epoch: number; seq: number; events: readonly AgentEvent[] };

/**
 * Result of appending a batch.
 * `ok`: durable. `stop`: durable, and a stop is requested. `applied`: durable since an earlier call whose reply was lost.
 * `locked`: retry at the next tick. `fenced`: another process owns the run. `ended`: the run has ended.
 * `regressed`: the log is shorter than its owner expects, because the database lost commits.
 */
export type Appended = 'ok' | 'stop' | 'applied' | 'locked' | 'fenced' | 'ended' | 'regressed';

/** Consecutive events of a log. */
export type LogPage = {
  events: AgentEvent[];
  /**
   * Position of the last event of the page; pass it to the next `read`. A page ends where the epoch changes, so its events have the
   * same epoch and consecutive numbers.
   */
  position: LogPosition;
  /** Number of the last event of the log. */
  tail: number;
  /** False if `after` is not a position of this log (another epoch wrote there): read again from the beginning. */
  valid: boolean;
  /** The log was dropped after its retention time; read the message instead. */
  dropped: boolean;
};

/** Progress of a run. `stop`: the owner has been asked to stop, for the given reason. */
export type RunPosition = { epoch: number; next: number; stop: boolean; stopReason?: string; live: boolean };

/** Events of runs, numbered from 1. Only the holder of the epoch writes, and events are durable before they are delivered. */
export interface RunLog {
  /**
   * Returns one result per batch, in order. A batch is written whole or not at all, and none is refused for its data: values that
   * JSON cannot represent are converted as `toJson` does.
   */
  append(batches: readonly LogBatch[]): Promise<readonly Appended[]>;
  read(run: RunKey, after: LogPosition, limit?: number): Promise<LogPage>;
  /** Returns the position of each run that exists. */
  positions(runs: readonly RunKey[]): Promise<Map<RunKey, RunPosition>>;
  /** Declares that no event follows number `last`. Called after the registry's `finish`. */
  close(run: RunKey, last: number): Promise<void>;
  drop(runs: readonly RunKey[]): Promise<void>;
}
