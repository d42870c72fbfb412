import type { AgentEvent } from '@intertie/core';

const windowMs = 1000;

/** Events per second: over the last second of a live run, or over a complete run. */
export class EventRate {
  #samples: Array<{ at: number; count: number }> = [];

  record(at: number, count: number): void {
    this.#samples.push({ at, count });
    while (this.#samples.length > 2 && this.#samples[1]!.at < at - windowMs) this.#samples.shift();
  }

  get now(): number {
    const first = this.#samples.at(0);
    const last = this.#samples.at(-1);
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
