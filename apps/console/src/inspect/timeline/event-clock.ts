import type { AgentEvent } from '@intertie/core';

/**
 * When each event was. Deltas carry no time; the frame that caused one does, and so may the moment at which it came. Without
 * either an event was no earlier than the one before it. The clock never goes back.
 */
export class EventClock {
  #last: number | undefined;
  #frameTime: (index: number) => number | undefined;

  constructor(frameTime: (index: number) => number | undefined = () => undefined) {
    this.#frameTime = frameTime;
  }

  timeOf(event: AgentEvent, arrived?: number): number {
    const said = event.at ?? (event.origin === undefined ? undefined : this.#frameTime(event.origin)) ?? arrived;
    this.#last = Math.max(said ?? this.#last ?? 0, this.#last ?? 0);
    return this.#last;
  }
}
