import { MessageList, type AgentEvent, type CanonicalMessage } from '@intertie/core';

/**
 * The message that the first n events of a run make, for any n: a pure function of n, fast in both directions. Every few
 * events it keeps the message, and folds from the nearest one before. The events may grow; what has been seen stays.
 */
export class TapeCursor {
  #events: readonly AgentEvent[];
  #every: number;
  #list = new MessageList();
  #fed = 0;
  /** The message before every 64th event. */
  #kept: Array<CanonicalMessage | undefined> = [];

  constructor(events: readonly AgentEvent[], every = 64) {
    this.#events = events;
    this.#every = every;
  }

  /** More of the same run. */
  grow(events: readonly AgentEvent[]): void {
    this.#events = events;
  }

  messageAt(count: number): CanonicalMessage | undefined {
    const to = Math.max(0, Math.min(count, this.#events.length));
    const place = Math.min(Math.floor(to / this.#every), this.#kept.length - 1);
    if (to < this.#fed || place * this.#every > this.#fed) this.#restore(place);
    for (; this.#fed < to; this.#fed++) {
      if (this.#fed % this.#every === 0) this.#kept[this.#fed / this.#every] ??= this.#list.message;
      this.#list.feed(this.#events[this.#fed]!);
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
    const start = this.#events.slice(0, this.#fed).findLast(({ type }) => type === 'run-start');
    if (start) this.#list.feed(start);
  }
}
