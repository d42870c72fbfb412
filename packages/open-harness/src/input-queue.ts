/** What listeners push and a reader pulls. A failure is told after everything that came before it. */
export interface InputQueue<Item> {
  push(item: Item): void;
  close(): void;
  fail(error: unknown): void;
  readonly stream: ReadableStream<Item>;
}

export function createInputQueue<Item>(onCancel: (reason: unknown) => void): InputQueue<Item> {
  let items: Item[] = [];
  let end: { error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const change = (): void => {
    wake?.();
    wake = undefined;
  };
  const stream = new ReadableStream<Item>(
    {
      async pull(controller) {
        if (items.length === 0 && end === undefined) await new Promise<void>((resolve) => void (wake = resolve));
        if (items.length > 0) {
          // All of them at once: what has happened cannot be held back.
          const ready = items;
          items = [];
          for (const item of ready) controller.enqueue(item);
        } else if (end !== undefined && 'error' in end) controller.error(end.error);
        else controller.close();
      },
      cancel(reason) {
        items = [];
        end ??= {};
        change();
        onCancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    push(item) {
      if (end !== undefined) return;
      items.push(item);
      change();
    },
    close() {
      end ??= {};
      change();
    },
    fail(error) {
      end ??= { error };
      change();
    },
  };
}
