import { MessageList, type CanonicalMessage } from '@intertie/core';
import type { LogEntry } from './inspect-types.ts';

/**
 * The message that the first n events of a run make, for any n: a pure function of n, fast in both directions. Every few
 * events it keeps the message, and folds from the nearest one before. The entries may grow; what has been seen stays.
 */
export class RunCursor {
  #entries: readonly LogEntry[] = [];
  #every: number;
  #list = new MessageList();
  #fed = 0;
  /** The message before every 64th event. */
  #kept: Array<CanonicalMessage | undefined> = [];

  constructor(every = 64) {
    this.#every = every;
  }

  /** More of the same run, or another one: then it begins anew. */
  turnTo(entries: readonly LogEntry[]): void {
    const goesOn = this.#entries.length <= entries.length && this.#entries[0] === entries[0];
    this.#entries = entries;
    if (goesOn || this.#fed === 0) return;
    this.#list = new MessageList();
    this.#fed = 0;
    this.#kept = [];
  }

  messageAt(count: number): CanonicalMessage | undefined {
    const to = Math.max(0, Math.min(count, this.#entries.length));
    const place = Math.min(Math.floor(to / this.#every), this.#kept.length - 1);
    if (to < this.#fed || place * this.#every > this.#fed) this.#restore(place);
    for (; this.#fed < to; this.#fed++) {
      if (this.#fed % this.#every === 0) this.#kept[this.#fed / this.#every] ??= this.#list.message;
      this.#list.feed(this.#entries[this.#fed]!.event);
    }
    return this.#list.message;
  }

  #restore(nearest: number): void {
    let place = Math.max(0, nearest);
    // A run's start makes the message stream; one that has ended cannot be gone on with like that.
    while (place > 0 && this.#kept[place]?.status !== 'streaming') place--;
    const message = this.#kept[place];
    this.#list = new MessageList(message ? { messages: [message] } : {});
    this.#fed = place * this.#every;
    // Only the start says which message the run is about.
    const start = this.#entries.slice(0, this.#fed).findLast(({ event }) => event.type === 'run-start');
    if (start) this.#list.feed(start.event);
  }
}
