import type { Outcome } from '@intertie/core';
import type { FlushReport } from '@intertie/core/internal';

/** How a run of this process ended: `lost` if for a dead process, `fenced` if another process has taken it over. */
export type RunResult = Outcome['outcome'] | 'lost' | 'fenced';

/** Receives measurements of a run host, for metrics. An exception that a method throws goes to `onError`. */
export interface RunObserver {
  /** The source of a run has sent its first event, `ms` after the run began in this process. */
  firstEvent?(event: { agent: string; ms: number }): void;
  runEnded?(run: { agent: string; result: RunResult }): void;
  /** A run of another process was taken over, and is continued or was ended. */
  takenOver?(run: { agent: string }): void;
  /** A run was given up at shutdown, for another process to continue. */
  handedOver?(run: { agent: string }): void;
  /** A new run was refused because the process is overloaded. */
  refused?(run: { agent: string }): void;
  flushed?(flush: FlushReport): void;
  /** A reader took events `lagMs` after they were available in this process. */
  delivered?(delivery: { lagMs: number }): void;
}

/** Calls one method of an observer. */
export type Observe = <Name extends keyof RunObserver>(
  name: Name,
  value: Parameters<Required<RunObserver>[Name]>[0],
) => void;
