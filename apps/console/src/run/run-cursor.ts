import { MessageList, type CanonicalMessage } from '@intertie/core';
import type { LogEntry } from '../inspect-types.ts';

/**
 * Folds the first n events of a run to a message, for any n. Stores a checkpoint message every `interval` events and folds from
 * the nearest one, so steps in both directions are fast.
 */
export class RunCursor {
  #entries: readonly LogEntry[] = [];
  #interval: number;
  #list = new MessageList();
  #fed = 0;
  /** Message before every `interval`-th event. */
  #checkpoints: Array<CanonicalMessage | undefined> = [];

  constructor(interval = 64) {
    this.#interval = interval;
  }

  /** Sets the entries: more of the same run, or another run, which discards all checkpoints. */
  setEntries(entries: readonly LogEntry[]): void {
    const isSameRun = this.#entries.length <= entries.length && this.#entries[0] === entries[0];
    this.#entries = entries;
    if (isSameRun || this.#fed === 0) return;
    this.#list = new MessageList();
    this.#fed = 0;
    this.#checkpoints = [];
  }

  messageAt(count: number): CanonicalMessage | undefined {
    const to = Math.max(0, Math.min(count, this.#entries.length));
    const nearest = Math.min(Math.floor(to / this.#interval), this.#checkpoints.length - 1);
    if (to < this.#fed || nearest * this.#interval > this.#fed) this.#restore(nearest);
    for (; this.#fed < to; this.#fed++) {
      if (this.#fed % this.#interval === 0) this.#checkpoints[this.#fed / this.#interval] ??= this.#list.message;
      this.#list.feed(this.#entries[this.#fed]!.event);
    }
    return this.#list.message;
  }

  #restore(nearest: number): void {
    let index = Math.max(0, nearest);
    // Only a streaming message can be continued: feeding `run-start` below would reopen one that has ended.
    while (index > 0 && this.#checkpoints[index]?.status !== 'streaming') index--;
    const message = this.#checkpoints[index];
    this.#list = new MessageList(message ? { messages: [message] } : {});
    this.#fed = index * this.#interval;
    // `run-start` names the message that the events belong to.
    const start = this.#entries.slice(0, this.#fed).findLast(({ event }) => event.type === 'run-start');
    if (start) this.#list.feed(start.event);
  }
}
