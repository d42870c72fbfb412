import type { Registry } from '@intertie/core/store';

export type LeaseOptions = {
  registry: Pick<Registry, 'heartbeat'>;
  process: string;
  /** How often it is renewed. */
  heartbeatMs: number;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
};

/** Number of missed heartbeats that count as an outage, and of heartbeats that other processes get to recover after it. */
const beats = 2;

/** Renews this process's lease and decides when another process's lease has expired. */
export class Lease {
  #registry: Pick<Registry, 'heartbeat'>;
  #process: string;
  #graceMs: number;
  #now: () => number;
  #renewedAt: number | undefined;
  #backAt = -Infinity;

  constructor({ registry, process, heartbeatMs, now = () => performance.now() }: LeaseOptions) {
    this.#registry = registry;
    this.#process = process;
    this.#graceMs = beats * heartbeatMs;
    this.#now = now;
  }

  async renew(): Promise<void> {
    await this.#registry.heartbeat(this.#process);
    const at = this.#now();
    if (this.#renewedAt !== undefined && at - this.#renewedAt > this.#graceMs) this.#backAt = at;
    this.#renewedAt = at;
  }

  /**
   * Whether a lease that is over means that its process is dead. Where the store was away, or the machine asleep, all of them
   * are over, and the first one back would end the runs of those that come a moment later.
   */
  get isTelling(): boolean {
    return this.#now() - this.#backAt >= this.#graceMs;
  }
}
