/**
 * The streams that a process has given out. When it goes, those who still read are cut off with an error: a stream that
 * merely ends would be taken for a run that has.
 */
export class HostedStreams {
  #cuts = new Set<(reason: Error) => void>();
  #waiting: Array<() => void> = [];

  /** A stream that can be cut off. Returns what to call when it is over. */
  enter(cut: (reason: Error) => void): () => void {
    this.#cuts.add(cut);
    return () => {
      this.#cuts.delete(cut);
      if (this.#cuts.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    };
  }

  /** Resolves when nobody reads any more. */
  async ended(): Promise<void> {
    if (this.#cuts.size > 0) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  close(): void {
    const error = new Error('The process is being shut down. Follow the run from another one, from the same position.');
    for (const cut of this.#cuts) cut(error);
  }
}
