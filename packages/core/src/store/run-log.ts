import type { AgentEvent } from '../event/event.ts';

declare const brand: unique symbol;

/**
 * A run, known to the store alone and unique in it. Public ids are the client's, and two threads or scopes may use the
 * same one; a key comes from the registry (`started.run.key`, `findRun`).
 */
export type RunKey = string & { readonly [brand]: 'RunKey' };

/** A place in a run's log: the owner's epoch and the number of the last event seen. `{ epoch: 0, seq: 0 }` is before the first. */
export type LogPosition = { epoch: number; seq: number };

/** Consecutive events of one run; the first has the number `seq` (the first of a run is 1). */
export type LogBatch = { run: RunKey; epoch: number; seq: number; events: readonly AgentEvent[] };

/**
 * What became of a batch.
 * `ok`: durable. `stop`: durable, and a stop is requested. `applied`: it was durable already (a lost acknowledgement).
 * `locked`: try again at the next tick. `fenced`: another process owns the run. `ended`: the run is over.
 * `regressed`: the log is shorter than the owner knows; the database lost commits.
 */
export type Appended = 'ok' | 'stop' | 'applied' | 'locked' | 'fenced' | 'ended' | 'regressed';

export type LogPage = {
  events: AgentEvent[];
  /**
   * The position of the last event given; hand it to the next `read`. A page ends where the epoch changes, so each event
   * before it has the same epoch and the number before.
   */
  position: LogPosition;
  /** The number of the last event of the log. */
  tail: number;
  /** False where `after` is not a position of this log (another epoch wrote there): start again from the beginning. */
  valid: boolean;
  /** The log has been dropped after its retention time; read the message instead. */
  dropped: boolean;
};

/** `stop`: its owner is asked to stop, for the reason that was given. */
export type RunPosition = { epoch: number; next: number; stop: boolean; stopReason?: string; live: boolean };

/** The events of runs, numbered from 1, written by the holder of the epoch alone. Durable before anybody is told. */
export interface RunLog {
  /**
   * One answer per batch, in order. A batch is written whole or not at all, and none is refused for its data: what JSON
   * cannot say is converted as `toJson` does.
   */
  append(batches: readonly LogBatch[]): Promise<readonly Appended[]>;
  read(run: RunKey, after: LogPosition, limit?: number): Promise<LogPage>;
  /** Of each run that exists: who may write next and whether it is live. */
  positions(runs: readonly RunKey[]): Promise<Map<RunKey, RunPosition>>;
  /** No event follows number `last`. Called after the registry's `finish`. */
  close(run: RunKey, last: number): Promise<void>;
  drop(runs: readonly RunKey[]): Promise<void>;
}
