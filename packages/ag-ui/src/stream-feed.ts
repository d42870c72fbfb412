import type { AGUIEvent } from './ag-ui-event.ts';
import type { EventFeed, EventSink } from './event-feed.ts';

/** How many events may wait for the reader: so many share the cost of one question. */
const maxAhead = 16;

/** A feed as a stream. Nothing is read before somebody reads; then a few events ahead. */
export function streamFeed<Out>(feed: EventFeed, map: (event: AGUIEvent) => Out): ReadableStream<Out> {
  let controller: ReadableStreamDefaultController<Out>;
  let onFull: (() => void) | undefined;
  let isOpen = false;
  let isOver = false;
  const settle = (): void => {
    const resolve = onFull;
    onFull = undefined;
    resolve?.();
  };
  const sink: EventSink = {
    event(event) {
      if (!isOver) controller.enqueue(map(event));
    },
    ready() {
      if (isOver) return false;
      if (-(controller.desiredSize ?? 0) < maxAhead) return true;
      settle();
      return false;
    },
    end() {
      if (isOver) return;
      isOver = true;
      controller.close();
      settle();
    },
    fail(error) {
      if (isOver) return;
      isOver = true;
      controller.error(error);
      settle();
    },
  };
  return new ReadableStream<Out>(
    {
      start: (own) => void (controller = own),
      pull: () =>
        new Promise<void>((resolve) => {
          onFull = resolve;
          if (!isOpen) {
            isOpen = true;
            feed.open(sink);
          }
          if (!isOver) feed.read();
        }),
      cancel(reason) {
        isOver = true;
        return feed.leave(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
