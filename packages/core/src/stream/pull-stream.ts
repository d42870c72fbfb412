export interface PullStreamOptions<Out> {
  /** Runs when the stream is created. `emit` and `fail` stay valid, for sources that also push. */
  start?: (emit: (item: Out) => void, fail: (reason: unknown) => void) => void;
  /** Reads the source once and emits any number of items. Returns whether the source may have more. */
  pull: (emit: (item: Out) => void) => boolean | Promise<boolean>;
  /** Releases the source. Called at most once: when the reader cancels, `pull` throws, or `fail` is called. */
  cancel?: (reason: unknown) => unknown;
}

/**
 * Creates a stream that reads its source only on demand. One read of the stream calls `pull` until it has emitted an item or
 * the source has ended. If `pull` throws, the stream errors and drops items that were not read yet.
 */
export function pullStream<Out>({ start, pull, cancel }: PullStreamOptions<Out>): ReadableStream<Out> {
  let controller: ReadableStreamDefaultController<Out>;
  let isEmpty = true;
  let isOver = false;
  const needsMore = (): boolean => isEmpty && !isOver;

  const emit = (item: Out): void => {
    if (isOver) return;
    isEmpty = false;
    controller.enqueue(item);
  };

  const fail = (reason: unknown): void => {
    if (isOver) return;
    isOver = true;
    controller.error(reason);
    // The stream reports `reason`. An error while releasing the source would only hide it.
    void (async () => cancel?.(reason))().catch(() => undefined);
  };

  return new ReadableStream<Out>(
    {
      start(own) {
        controller = own;
        start?.(emit, fail);
      },
      async pull() {
        isEmpty = true;
        try {
          while (needsMore()) {
            if ((await pull(emit)) || isOver) continue;
            isOver = true;
            controller.close();
          }
        } catch (error) {
          fail(error);
        }
      },
      async cancel(reason) {
        if (isOver) return;
        isOver = true;
        await cancel?.(reason);
      },
    },
    // No item is read ahead: reading can start a run that nothing consumes yet.
    { highWaterMark: 0 },
  );
}
