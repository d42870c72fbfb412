/** Receives the events of a producer that cannot be paused. */
export interface EventSink {
  next(event: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/** Maximum number of events that wait for the reader. A producer that cannot be paused may be faster. */
const maxWaiting = 100_000;

/** Yields the events that a producer pushes. `start` returns the function that stops the producer. */
export async function* pushEvents(start: (sink: EventSink) => () => void): AsyncGenerator {
  const waiting: unknown[] = [];
  let wake: (() => void) | undefined;
  let over: { error?: unknown } | undefined;
  const end = (why: { error?: unknown }): void => {
    over ??= why;
    wake?.();
  };
  const stop = start({
    next(event) {
      if (over) return;
      waiting.push(event);
      if (waiting.length > maxWaiting) {
        const message = `The agent is ${maxWaiting} events ahead of its reader. Send fewer, longer deltas.`;
        end({ error: Object.assign(new Error(message), { code: 'overflow' }) });
      } else wake?.();
    },
    error: (error) => end({ error }),
    complete: () => end({}),
  });
  try {
    for (;;) {
      // More events, and the end, can arrive while the reader handles one.
      while (waiting.length > 0) yield* waiting.splice(0);
      if (over && 'error' in over) throw over.error;
      if (over) return;
      await new Promise<void>((resolve) => void (wake = resolve));
    }
  } finally {
    stop();
  }
}
