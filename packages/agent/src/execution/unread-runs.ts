import type { StopOnDisconnect, Store } from '@intertie/core';
import type { Hint, RunKey, Scope } from '@intertie/core/store';

/** Run with the rule of its agent. */
export type ReadRun = StopOnDisconnect & { scope: Scope; run: RunKey };

type StopRun = (scope: Scope, run: RunKey) => Promise<void>;
/** `visits` counts all readers so far, to detect one that came and left during a check. */
type Watched = { readers: number; visits: number; timer?: ReturnType<typeof setTimeout> };

/** Time in which other processes can report that they have readers of a run. */
const replyMs = 500;

/**
 * Stops the runs whose last reader has left. Counts the readers of this process, and asks the others with a hint before it
 * stops a run: the client may have reconnected to another process, which then watches the run.
 */
export class UnreadRuns {
  #store: Store;
  #stop: StopRun;
  #onError: (error: unknown) => void;
  #runs = new Map<RunKey, Watched>();
  #unsubscribe: (() => void) | undefined;
  #isClosed = false;

  constructor({ store, stop, onError }: { store: Store; stop: StopRun; onError: (error: unknown) => void }) {
    this.#store = store;
    this.#stop = stop;
    this.#onError = onError;
  }

  /** Adds a reader of a run. Returns a function to call when it has left. */
  addReader(read: ReadRun): () => void {
    this.#unsubscribe ??= this.#store.hints.subscribe((hint) => this.#handleHint(hint));
    const watched = this.#runs.get(read.run) ?? { readers: 0, visits: 0 };
    this.#runs.set(read.run, watched);
    watched.readers += 1;
    watched.visits += 1;
    clearTimeout(watched.timer);
    return () => {
      watched.readers -= 1;
      if (watched.readers === 0) this.#schedule(read, watched, read.afterMs, () => this.#ask(read, watched));
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    for (const { timer } of this.#runs.values()) clearTimeout(timer);
    this.#runs.clear();
  }

  #schedule(read: ReadRun, watched: Watched, delayMs: number, act: () => Promise<void>): void {
    if (this.#isClosed) return;
    watched.timer = setTimeout(() => {
      act().catch((error: unknown) => {
        this.#runs.delete(read.run);
        this.#onError(error);
      });
    }, delayMs);
  }

  /** Asks the other processes for readers. A run that waits for an answer has no reader by design, and is not stopped. */
  async #ask(read: ReadRun, watched: Watched): Promise<void> {
    const { registry, hints } = this.#store;
    const { scope, run } = read;
    const { visits } = watched;
    const record = await registry.getRun(scope, run);
    const isLive = record?.state === 'running' || record?.state === 'queued';
    const isWaiting = isLive && (await registry.listDecisions(scope, { run, state: 'open' })).length > 0;
    if (watched.visits > visits) return;
    if (!isLive || isWaiting) return void this.#runs.delete(run);
    // Without hints, readers of other processes are unknown.
    if (hints.isConnected?.() === false)
      return this.#schedule(read, watched, read.afterMs, () => this.#ask(read, watched));
    hints.publish({ type: 'unread', run });
    this.#schedule(read, watched, replyMs, () => this.#end(read));
  }

  async #end({ scope, run }: ReadRun): Promise<void> {
    this.#runs.delete(run);
    await this.#stop(scope, run);
  }

  #handleHint(hint: Hint): void {
    if (hint.type !== 'unread' && hint.type !== 'read') return;
    const watched = this.#runs.get(hint.run);
    if (watched === undefined) return;
    if (watched.readers > 0) {
      if (hint.type === 'unread') this.#store.hints.publish({ type: 'read', run: hint.run });
    } else if (hint.type === 'read') {
      clearTimeout(watched.timer);
      this.#runs.delete(hint.run);
    }
  }
}
