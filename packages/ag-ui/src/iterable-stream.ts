import { iterate } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import { generateAGUI } from './generate-ag-ui.ts';
import type { PartFeed } from './part-feed.ts';
import { streamFeed } from './stream-feed.ts';

/**
 * A feed as a stream that is iterated without one: each event that passes through a platform's stream costs more than all
 * that is done to make it. Whoever takes a reader, pipes or tees has a stream like any other; a loop reads the feed itself,
 * and meanwhile the stream is locked, as it would be.
 */
export function iterableStream(given: PartFeed): ReadableStream<AGUIEvent> {
  const feed = openedFeed(given);
  let isTouched = false;
  const touched: PartFeed = {
    ...feed,
    open(sink) {
      isTouched = true;
      feed.open(sink);
    },
    leave(reason) {
      isTouched = true;
      feed.leave(reason);
    },
  };
  const stream = streamFeed(touched, (event) => event);

  const values = (options?: ReadableStreamIteratorOptions): AsyncIterableIterator<AGUIEvent> => {
    // Only the platform knows how to leave a stream without its end.
    if (options?.preventCancel) return ReadableStream.prototype.values.call(stream, options);
    // What a reader has left in the stream is in the stream.
    if (isTouched) return iterate(stream);
    const reader = stream.getReader();
    const close = (): void => {
      reader.cancel().catch(() => undefined);
      reader.releaseLock();
    };
    return generateAGUI({
      ...touched,
      open(sink) {
        touched.open({
          ...sink,
          end() {
            sink.end();
            close();
          },
        });
      },
      leave(reason) {
        touched.leave(reason);
        close();
      },
    });
  };
  for (const key of ['values', Symbol.asyncIterator]) {
    Object.defineProperty(stream, key, { value: values, configurable: true, writable: true });
  }
  return stream;
}

/** A feed that hears of a stop from now on, and tells whoever opens it what it has said by then. */
function openedFeed(feed: PartFeed): PartFeed {
  const early: AGUIEvent[] = [];
  let isEnded = false;
  const end = (): void => void (isEnded = true);
  feed.open({ event: (event) => void early.push(event), ready: () => false, end, fail: end });
  return {
    ...feed,
    open(sink) {
      feed.open(sink);
      for (const event of early) sink.event(event);
      if (isEnded) sink.end();
    },
  };
}
