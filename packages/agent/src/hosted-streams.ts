import type { Followed } from '@intertie/core';

/**
 * The streams that a process has given out. When it goes, those who still read are cut off with an error: a stream that
 * merely ends would be taken for a run that has.
 */
export class HostedStreams {
  #cuts = new Set<(reason: Error) => void>();
  #waiting: Array<() => void> = [];

  host(stream: ReadableStream<Followed>): ReadableStream<Followed> {
    const reader = stream.getReader();
    let cut: (reason: Error) => void;
    const leave = (): void => {
      this.#cuts.delete(cut);
      if (this.#cuts.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    };
    return new ReadableStream<Followed>(
      {
        start: (controller) => {
          cut = (reason) => {
            controller.error(reason);
            reader.cancel(reason).catch(() => undefined);
          };
          this.#cuts.add(cut);
        },
        async pull(controller) {
          try {
            const { done, value } = await reader.read();
            if (!done) return controller.enqueue(value);
            leave();
            controller.close();
          } catch (error) {
            leave();
            throw error;
          }
        },
        cancel: (reason) => {
          leave();
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Resolves when nobody reads any more. */
  async ended(): Promise<void> {
    if (this.#cuts.size > 0) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  close(): void {
    const error = new Error('The process is being shut down. Follow the run from another one, from the same position.');
    for (const cut of this.#cuts) cut(error);
    this.#cuts.clear();
  }
}
