import { pullStream } from '@intertie/core/internal';

/** Queue between listeners that push and a reader that pulls. A failure is delivered after all earlier items. */
export interface InputQueue<Item> {
  push(item: Item): void;
  close(): void;
  fail(error: unknown): void;
  readonly stream: ReadableStream<Item>;
}

/** Creates a queue. `onCancel` receives the unread items; after a failure it is called with none. */
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
  const stream = pullStream<Item>({
    async pull(emit) {
      if (items.length === 0 && end === undefined) await new Promise<void>((resolve) => void (wake = resolve));
      if (next < items.length) {
        emit(items[next] as Item);
        next += 1;
        if (next === items.length) {
          items = [];
          next = 0;
        }
        return true;
      }
      if (end !== undefined && 'error' in end) throw end.error;
      return false;
    },
    cancel(reason) {
      const unread = items.slice(next);
      items = [];
      next = 0;
      end ??= {};
      change();
      onCancel(reason, unread);
    },
  });
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
