import type { AgentEvent } from '@intertie/core';
import type { CommittedBatch, LocalReader, LocalRuns, RunWatcher } from '@intertie/core/internal';
import type { LogPosition, RunKey, RunLog, RunPosition } from '@intertie/core/store';

export type RunRelayOptions = {
  log: Pick<RunLog, 'read'>;
  watcher: RunWatcher;
  /** The runs that this process writes itself: they need no relay. */
  local: LocalRuns;
  onError: (error: unknown) => void;
};

/**
 * Runs of other processes, for any number of readers in this one: each is read and decoded once, and given to all as if it
 * were written here. A reader that comes later, or does not keep up, reads the log itself until it has.
 */
export class RunRelay implements LocalRuns {
  #options: RunRelayOptions;
  #relays = new Map<RunKey, Relay>();

  constructor(options: RunRelayOptions) {
    this.#options = options;
  }

  /** Whether batches of the run come without being asked for. */
  writes(run: RunKey): boolean {
    return this.#options.local.writes(run) || this.#relays.get(run)?.isRunning === true;
  }

  isUnwritten(run: RunKey): boolean {
    return this.#options.local.isUnwritten(run);
  }

  follow(run: RunKey, reader: LocalReader): () => void {
    let relay = this.#relays.get(run);
    if (!relay) this.#relays.set(run, (relay = new Relay(run, this.#options)));
    const leave = relay.join(reader);
    return () => {
      if (leave() || this.#relays.get(run) !== relay) return;
      this.#relays.delete(run);
    };
  }
}

class Relay {
  #run: RunKey;
  #options: RunRelayOptions;
  #readers = new Set<LocalReader>();
  #leave: Array<() => void>;
  #seen: LogPosition | undefined;
  #isReading = false;
  #isAskedAgain = false;

  constructor(run: RunKey, options: RunRelayOptions) {
    const { watcher, local } = options;
    this.#run = run;
    this.#options = options;
    this.#leave = [
      local.follow(run, (batch) => this.#deliver(batch)),
      watcher.watch(run, (position) => this.#see(position)),
    ];
  }

  /** From the first position on, whatever comes after it is told. */
  get isRunning(): boolean {
    return this.#seen !== undefined;
  }

  /** Returns the way to leave, which says whether others are left. */
  join(reader: LocalReader): () => boolean {
    const own: LocalReader = (batch) => reader(batch);
    this.#readers.add(own);
    return () => {
      this.#readers.delete(own);
      if (this.#readers.size > 0) return true;
      for (const leave of this.#leave) leave();
      return false;
    };
  }

  #see(position: RunPosition | undefined): void {
    if (this.#options.local.writes(this.#run)) this.#seen = undefined;
    else if (position?.live || this.#seen) void this.#read(position);
  }

  async #read(position: RunPosition | undefined): Promise<void> {
    const { log, onError } = this.#options;
    if (!this.#seen) {
      this.#seen = { epoch: position!.epoch, seq: position!.next - 1 };
      // What was there before is the readers' own to read.
      return this.#deliver(null);
    }
    if (position && position.next - 1 <= this.#seen.seq) return undefined;
    if (this.#isReading) {
      this.#isAskedAgain = true;
      return undefined;
    }
    this.#isReading = true;
    try {
      do {
        this.#isAskedAgain = false;
        const { epoch, seq } = this.#seen;
        const page = await log.read(this.#run, { epoch: seq === 0 ? 0 : epoch, seq });
        if (!page.valid || page.dropped) {
          this.#seen = undefined;
          return this.#deliver(null);
        }
        if (page.events.length === 0) continue;
        const first = page.position.seq - page.events.length + 1;
        this.#seen = page.position;
        const bytes = page.events.reduce((sum, event) => sum + sizeOf(event), 0);
        this.#deliver({ epoch: page.position.epoch, seq: first, events: page.events, bytes });
        if (page.position.seq < page.tail) this.#isAskedAgain = true;
      } while (this.#isAskedAgain);
    } catch (error) {
      onError(error);
      // They read for themselves, and say so if that fails.
      this.#seen = undefined;
      this.#deliver(null);
    } finally {
      this.#isReading = false;
    }
  }

  #deliver(batch: CommittedBatch | null): void {
    for (const reader of this.#readers) reader(batch);
  }
}

/** Enough to tell when a reader does not keep up. */
function sizeOf(event: AgentEvent): number {
  return 'delta' in event ? 64 + event.delta.length : 512;
}
