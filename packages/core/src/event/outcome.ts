import type { Fault } from './fault.ts';

/** Item that a paused run waits for: a client's tool result, an answer, or the next message. */
export type Waiting =
  | { type: 'tool'; toolCallId: string }
  | { type: 'question'; questionId: string }
  | { type: 'message' };

/**
 * How a run or an agent ended. `aborted` is intentional; every unintended end is an `error` (`truncated`, `idle`, `lost`, a failure
 * of the provider). `waitingFor` is never empty on `run-end`; on `agent-end` it may be.
 */
export type Outcome =
  | { outcome: 'complete' }
  | { outcome: 'paused'; waitingFor: Waiting[] }
  | { outcome: 'aborted'; by?: 'user' | 'system'; reason?: string }
  | { outcome: 'error'; error: Fault };

/** Errors of runs whose process died and that no process continued. */
const lostCodes: ReadonlySet<string | undefined> = new Set(['lost', 'agent-gone', 'too-many-attempts']);

/** Whether no process continued the run. Its remote task may still run, and its questions can no longer be answered. */
export function isLostRun(outcome: Outcome | undefined): boolean {
  return outcome?.outcome === 'error' && lostCodes.has(outcome.error.code);
}
