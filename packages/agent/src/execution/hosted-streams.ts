import { RunRefusedError } from '@intertie/core';

/**
 * Streams that this process serves. On shutdown those that are still read fail with an error: a stream that only closes
 * would look like the end of the run.
 */
export class HostedStreams {
  #aborts = new Set<(reason: Error) => void>();
  #waiting: Array<() => void> = [];

  /** Adds the abort function of a stream. Returns a function to call when the stream has ended. */
  add(abort: (reason: Error) => void): () => void {
    this.#aborts.add(abort);
    return () => {
      this.#aborts.delete(abort);
      if (this.#aborts.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    };
  }

  /** Resolves when no stream is open. */
  async waitUntilEmpty(): Promise<void> {
    if (this.#aborts.size > 0) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  abort(): void {
    const error = new RunRefusedError({ code: 'closing' });
    for (const abort of this.#aborts) abort(error);
  }
}
