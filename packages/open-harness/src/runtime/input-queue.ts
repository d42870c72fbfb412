/** Queue between listeners that push and a reader that pulls. A failure is delivered after all earlier items. */
export interface InputQueue<Item> {
  push(item: Item): void;
  close(): void;
  fail(error: unknown): void;
  readonly stream: ReadableStream<Item>;
}

/** Creates a queue. `onCancel` receives the unread items. */
export function createInputQueue<Item>(onCancel: (reason: unknown, unread: Item[]) => void): InputQueue<Item> {
  let items: Item[] = [];
  /** Index of the first unread item. Removing items from the front would move all others. */
  let next = 0;
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
        if (next < items.length) {
          controller.enqueue(items[next] as Item);
          next += 1;
          if (next === items.length) {
            items = [];
            next = 0;
          }
        } else if (end !== undefined && 'error' in end) controller.error(end.error);
        else controller.close();
      },
      cancel(reason) {
        const unread = items.slice(next);
        items = [];
        next = 0;
        end ??= {};
        change();
        onCancel(reason, unread);
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
