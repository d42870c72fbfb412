import type { AgentEvent } from '@intertie/core';

const windowMs = 1000;

/** Events a second: in the last second while they come, over the whole run once it is here. */
export class EventRate {
  #notes: Array<{ at: number; count: number }> = [];

  note(at: number, count: number): void {
    this.#notes.push({ at, count });
    while (this.#notes.length > 2 && this.#notes[1]!.at < at - windowMs) this.#notes.shift();
  }

  get now(): number {
    const first = this.#notes.at(0);
    const last = this.#notes.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at) return 0;
    return ((last.count - first.count) * 1000) / Math.max(windowMs, last.at - first.at);
  }

  static average(events: readonly AgentEvent[]): number {
    const first = events.find(({ at }) => at !== undefined)?.at;
    const last = events.findLast(({ at }) => at !== undefined)?.at;
    if (first === undefined || last === undefined || last <= first) return 0;
    return (events.length * 1000) / (last - first);
  }
}
