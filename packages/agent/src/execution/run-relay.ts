import type { AgentEvent } from '@intertie/core';
import type { CommittedBatch, LocalReader, LocalRuns, RunWatcher } from '@intertie/core/internal';
import type { LogPosition, RunKey, RunLog, RunPosition } from '@intertie/core/store';

export type RunRelayOptions = {
  log: Pick<RunLog, 'read'>;
  watcher: RunWatcher;
  /** Runs that this process writes. They are passed through. */
  local: LocalRuns;
  onError: (error: unknown) => void;
};

/**
 * Reads runs of other processes once for all readers in this process, and delivers them like local runs. A reader that is
 * behind reads the log itself until it has caught up.
 */
export class RunRelay implements LocalRuns {
  #options: RunRelayOptions;
  #relays = new Map<RunKey, Relay>();

  constructor(options: RunRelayOptions) {
    this.#options = options;
  }

  /** Whether batches of the run are delivered to readers. */
  writes(run: RunKey): boolean {
    return this.#options.local.writes(run) || this.#relays.get(run)?.isRunning === true;
  }

  isUnwritten(run: RunKey): boolean {
    return this.#options.local.isUnwritten(run);
  }

  follow(run: RunKey, reader: LocalReader): () => void {
    let relay = this.#relays.get(run);
    if (!relay) this.#relays.set(run, (relay = new Relay(run, this.#options)));
    const remove = relay.add(reader);
    return () => {
      if (remove() || this.#relays.get(run) !== relay) return;
      this.#relays.delete(run);
    };
  }
}

class Relay {
  #run: RunKey;
  #options: RunRelayOptions;
  #readers = new Set<LocalReader>();
  #unsubscribe: Array<() => void>;
  #position: LogPosition | undefined;
  #isReading = false;
  #shouldReadAgain = false;

  constructor(run: RunKey, options: RunRelayOptions) {
    const { watcher, local } = options;
    this.#run = run;
    this.#options = options;
    this.#unsubscribe = [
      local.follow(run, (batch) => this.#deliver(batch)),
      watcher.watch(run, (position) => this.#onPosition(position)),
    ];
  }

  /** Whether the relay has a start position, and delivers all events after it. */
  get isRunning(): boolean {
    return this.#position !== undefined;
  }

  /** Returns a function that removes the reader, and that returns whether readers are left. */
  add(reader: LocalReader): () => boolean {
    const own: LocalReader = (batch) => reader(batch);
    this.#readers.add(own);
    return () => {
      this.#readers.delete(own);
      if (this.#readers.size > 0) return true;
      for (const remove of this.#unsubscribe) remove();
      return false;
    };
  }

  #onPosition(position: RunPosition | undefined): void {
    if (this.#options.local.writes(this.#run)) this.#position = undefined;
    else if (position?.live || this.#position) void this.#read(position);
  }

  async #read(position: RunPosition | undefined): Promise<void> {
    const { log, onError } = this.#options;
    if (!this.#position) {
      this.#position = { epoch: position!.epoch, seq: position!.next - 1 };
      // Readers read all earlier events from the log.
      return this.#deliver(null);
    }
    if (position && position.next - 1 <= this.#position.seq) return undefined;
    if (this.#isReading) {
      this.#shouldReadAgain = true;
      return undefined;
    }
    this.#isReading = true;
    try {
      do {
        this.#shouldReadAgain = false;
        const { epoch, seq } = this.#position;
        const page = await log.read(this.#run, { epoch: seq === 0 ? 0 : epoch, seq });
        if (!page.valid || page.dropped) {
          this.#position = undefined;
          return this.#deliver(null);
        }
        if (page.events.length === 0) continue;
        const first = page.position.seq - page.events.length + 1;
        this.#position = page.position;
        const bytes = page.events.reduce((sum, event) => sum + estimateBytes(event), 0);
        this.#deliver({ epoch: page.position.epoch, seq: first, events: page.events, bytes });
        if (page.position.seq < page.tail) this.#shouldReadAgain = true;
      } while (this.#shouldReadAgain);
    } catch (error) {
      onError(error);
      // Readers fall back to the log, and report the error if that fails too.
      this.#position = undefined;
      this.#deliver(null);
    } finally {
      this.#isReading = false;
    }
  }

  #deliver(batch: CommittedBatch | null): void {
    for (const reader of this.#readers) reader(batch);
  }
}

/** Rough size, precise enough to detect slow readers. */
function estimateBytes(event: AgentEvent): number {
  return 'delta' in event ? 64 + event.delta.length : 512;
}
