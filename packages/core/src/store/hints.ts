import type { RunKey } from './run-log.ts';

/** A nudge to look again. It carries no data: whoever gets one reads the store. */
export type Hint =
  | { type: 'flushed'; process: string }
  | { type: 'stop' | 'answer'; run: RunKey }
  | { type: 'thread'; scope: string; threadId: string };

/** A bus that may lose, repeat and reorder; everything also works without it, by polling. */
export interface Hints {
  publish(hint: Hint): void;
  /** Returns the way to unsubscribe. */
  subscribe(listener: (hint: Hint) => void): () => void;
  /** Whether hints of other processes arrive just now. Where they do not, it takes polling; without the method they do. */
  isConnected?(): boolean;
}
