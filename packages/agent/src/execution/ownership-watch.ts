import type { Ownership, RunPosition } from '@intertie/core/store';
import type { ExecutionHost } from './execution.ts';

export type OwnershipEvents = {
  /** Still ours, as of now; somebody may want it to stop. */
  onLook: (position: RunPosition) => void;
  /** Another process owns the run, or it has been ended or deleted. */
  onLost: () => void;
};

/** Whether a run is still ours, and wanted: looked at with every hint, and now and then without. */
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
      // It may be older than our ownership, so a loss is looked at again.
      if (this.#isOurs(position)) events.onLook(position);
      else void this.look();
    });
  }

  async look(): Promise<void> {
    const { key } = this.#owned.run;
    try {
      const position = (await this.#host.store.log.positions([key])).get(key);
      if (this.#isOver) return;
      if (this.#isOurs(position)) this.#events.onLook(position);
      else this.#events.onLost();
    } catch (error) {
      this.#host.onError(error);
    }
  }

  close(): void {
    this.#isOver = true;
    this.#unwatch();
  }

  #isOurs(position: RunPosition | undefined): position is RunPosition {
    return position?.live === true && position.epoch === this.#owned.epoch;
  }
}
