import { pullStream } from '@intertie/core/internal';

/** Queue that listeners push to and a stream reads. The stream reports a failure after all items that came before it. */
export interface InputQueue<Item> {
  push(item: Item): void;
  close(): void;
  fail(error: unknown): void;
  readonly stream: ReadableStream<Item>;
}

/** `onCancel` receives the unread items. It is also called, with no items, after the stream has reported a failure. */
export function createInputQueue<Item>(onCancel: (reason: unknown, unread: Item[]) => void): InputQueue<Item> {
  let items: Item[] = [];
  /** Index of the first unread item. Removing items from the front of an array moves all others. */
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
