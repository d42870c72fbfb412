const probeMs = 50;
const windowMs = 1000;

/**
 * Measures how late timers fire, as the mean of each second. Two seconds in a row count as sustained, so that one long task
 * does not count as overload.
 */
export class EventLoopDelay {
  #now: () => number;
  #timer: ReturnType<typeof setInterval>;
  #probedAt: number;
  #windowStart: number;
  #sum = 0;
  #count = 0;
  #previous = 0;
  #latest = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#probedAt = this.#windowStart = now();
    this.#timer = setInterval(() => this.probe(), probeMs);
    // Only Node's timers have `unref`.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Mean delay of the last second, in milliseconds. */
  get ms(): number {
    return this.#latest;
  }

  /** Whether the mean delay of each of the last two seconds is above the limit. */
  isAbove(limitMs: number): boolean {
    return Math.min(this.#previous, this.#latest) > limitMs;
  }

  /** Takes one sample. Called by the timer. */
  probe(): void {
    const at = this.#now();
    this.#sum += Math.max(0, at - this.#probedAt - probeMs);
    this.#count += 1;
    this.#probedAt = at;
    if (at - this.#windowStart < windowMs) return;
    this.#previous = this.#latest;
    this.#latest = this.#sum / this.#count;
    this.#windowStart = at;
    this.#sum = this.#count = 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
