import type { RunKey } from './run-log.ts';

/** Signal that the store has changed. It carries no data: receivers read the store. */
export type Hint =
  | { type: 'flushed'; process: string }
  | { type: 'stop' | 'answer' | 'released'; run: RunKey }
  | { type: 'thread'; scope: string; threadId: string };

/** Bus that may lose, repeat and reorder hints. Everything also works without it, by polling. */
export interface Hints {
  publish(hint: Hint): void;
  /** Returns the function that unsubscribes. */
  subscribe(listener: (hint: Hint) => void): () => void;
  /** Whether hints of other processes currently arrive; if not, poll more often. Without this method they are assumed to. */
  isConnected?(): boolean;
}
