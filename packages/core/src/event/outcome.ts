import type { Fault } from './fault.ts';

/** What a paused run waits for: a client's tool result, an answer, or simply the next message. */
export type Waiting =
  | { type: 'tool'; toolCallId: string }
  | { type: 'question'; questionId: string }
  | { type: 'message' };

/**
 * How a run or an agent ended.
 * `aborted` is on purpose; everything that nobody meant is `error` (`truncated`, `idle`, `lost`, a provider's failure).
 * `waitingFor` is never empty on `run-end`; on `agent-end` it may be.
 */
export type Outcome =
  | { outcome: 'complete' }
  | { outcome: 'paused'; waitingFor: Waiting[] }
  | { outcome: 'aborted'; by?: 'user' | 'system'; reason?: string }
  | { outcome: 'error'; error: Fault };
