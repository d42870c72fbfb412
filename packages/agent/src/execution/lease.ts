import type { Registry } from '@intertie/core/store';

export type LeaseOptions = {
  registry: Pick<Registry, 'heartbeat' | 'isExclusive'>;
  process: string;
  /** Returns the duration of the lease; called for every renewal. */
  getLeaseMs: () => number;
  /** Interval of renewals. */
  heartbeatMs: number;
  /** Monotonic clock in milliseconds. */
  now?: () => number;
};

/** Number of missed heartbeats that count as an outage, and of heartbeats that other processes get to renew their leases after it. */
const beats = 2;

/** Renews this process's lease and decides when another process's lease has expired. */
export class Lease {
  #registry: LeaseOptions['registry'];
  #process: string;
  #getLeaseMs: () => number;
  #graceMs: number;
  #now: () => number;
  #renewedAt: number | undefined;
  #heldUntil = -Infinity;
  #backAt = -Infinity;

  constructor({ registry, process, getLeaseMs, heartbeatMs, now = () => performance.now() }: LeaseOptions) {
    this.#registry = registry;
    this.#process = process;
    this.#getLeaseMs = getLeaseMs;
    this.#graceMs = beats * heartbeatMs;
    this.#now = now;
  }

  async renew(): Promise<void> {
    const leaseMs = this.#getLeaseMs();
    const sentAt = this.#now();
    await this.#registry.heartbeat(this.#process, undefined, leaseMs);
    const at = this.#now();
    // The lease begins between the request and its reply.
    this.#heldUntil = sentAt + leaseMs;
    // A process that starts does not know whether there was an outage until now.
    const isBack = this.#renewedAt === undefined ? !this.#registry.isExclusive : at - this.#renewedAt > this.#graceMs;
    if (isBack) this.#backAt = at;
    this.#renewedAt = at;
  }

  /** Whether this process certainly still has its lease, so that no other one can have taken over its runs. */
  get isHeld(): boolean {
    return this.#now() < this.#heldUntil;
  }

  /**
   * Whether an expired lease proves that its process is dead. After an outage of the store, or sleep of the machine, all
   * leases have expired, and the first process to return or to start would take over the runs of those that return a moment later.
   */
  get isReliable(): boolean {
    return this.#now() - this.#backAt >= this.#graceMs;
  }
}
