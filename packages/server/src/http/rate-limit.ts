/**
 * Token bucket per client. Uses a monotonic clock: if the system clock were set back, a bucket would stay empty for as long as
 * the step.
 */
export class RateLimit {
  #perSecond: number;
  #burst: number;
  #now: () => number;
  #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(
    perSecond: number,
    { burst = perSecond * 4, now = () => performance.now() }: { burst?: number; now?: () => number } = {},
  ) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
  }

  /** Returns 0 if the request may pass, else the number of seconds after which to try again. */
  take(client: string): number {
    const now = this.#now();
    if (this.#buckets.size > 10_000) this.#forgetFull(now);
    const { tokens, at } = this.#buckets.get(client) ?? { tokens: this.#burst, at: now };
    const filled = Math.min(this.#burst, tokens + ((now - at) / 1000) * this.#perSecond);
    const left = filled - 1;
    this.#buckets.set(client, { tokens: Math.max(left, 0), at: now });
    return left >= 0 ? 0 : Math.max(1, Math.ceil(-left / this.#perSecond));
  }

  #forgetFull(now: number): void {
    for (const [client, { tokens, at }] of this.#buckets) {
      if (tokens + ((now - at) / 1000) * this.#perSecond >= this.#burst) this.#buckets.delete(client);
    }
  }
}
