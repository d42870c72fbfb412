import type { AgentEvent } from '@intertie/core';

/**
 * Determines the time of each event: its own time, else the time of the frame that caused it, else its arrival. Deltas have no
 * time of their own. An event without any of these has the time of the previous event. Times never decrease.
 */
export class EventClock {
  /** Whether the last event had a time, and not that of the previous one. */
  isKnown = false;
  #last: number | undefined;
  #frameTime: (index: number) => number | undefined;

  constructor(frameTime: (index: number) => number | undefined = () => undefined) {
    this.#frameTime = frameTime;
  }

  getTime(event: AgentEvent, arrived?: number): number {
    const time = event.at ?? (event.origin === undefined ? undefined : this.#frameTime(event.origin)) ?? arrived;
    this.#last = Math.max(time ?? this.#last ?? 0, this.#last ?? 0);
    this.isKnown = time !== undefined;
    return this.#last;
  }
}
