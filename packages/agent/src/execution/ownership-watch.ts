import type { Ownership, RunLostReason, RunPosition } from '@intertie/core/store';
import type { ExecutionHost } from './execution.ts';

export type OwnershipEvents = {
  /** This process still owns the run. `position` has a requested stop. */
  onOwned: (position: RunPosition) => void;
  /** `fenced`: another process continues the run. `ended`: it has ended, was deleted, or its new owner has been asked to end it. */
  onLost: (reason: Extract<RunLostReason, 'fenced' | 'ended'>) => void;
};

/** Checks whether this process still owns a run and whether a stop was requested: after every hint, and periodically. */
export class OwnershipWatch {
  #host: ExecutionHost;
  #owned: Ownership;
  #events: OwnershipEvents;
  #unwatch: () => void;
  #isOver = false;

  constructor(host: ExecutionHost, owned: Ownership, events: OwnershipEvents) {
    this.#host = host;
    this.#owned = owned;
    this.#events = events;
    this.#unwatch = host.watcher.watch(owned.run.key, (position) => {
      if (this.#isOver) return;
      // The position may be older than this ownership, so a loss is checked again.
      if (this.#isOwned(position)) events.onOwned(position);
      else void this.check();
    });
  }

  async check(): Promise<void> {
    await this.confirm().catch(this.#host.onError);
  }

  /** Checks like `check`, but rejects if the store does not answer. */
  async confirm(): Promise<void> {
    const { key } = this.#owned.run;
    const position = (await this.#host.store.log.positions([key])).get(key);
    if (this.#isOver) return;
    const isContinued = position?.live === true && !position.stop;
    if (this.#isOwned(position)) this.#events.onOwned(position);
    else this.#events.onLost(isContinued ? 'fenced' : 'ended');
  }

  close(): void {
    this.#isOver = true;
    this.#unwatch();
  }

  #isOwned(position: RunPosition | undefined): position is RunPosition {
    return position?.live === true && position.epoch === this.#owned.epoch;
  }
}
