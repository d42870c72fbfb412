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
