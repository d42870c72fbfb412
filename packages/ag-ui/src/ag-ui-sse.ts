import { createFrameBytes } from './ag-ui-frame-bytes.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { feedOf, type EventFeed, type EventSink } from './event-feed.ts';

const keepAliveFrame = ': keep-alive\n\n';
/** What one piece may hold: so many reads share the cost of writing it, and no more is read for a client that takes nothing. */
const maxReads = 256;
const maxLength = 32_768;

export const aguiSSEHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies that buffer would hold the answer back until it is complete.
  'x-accel-buffering': 'no',
};

export interface WriteAGUISSEOptions {
  /** After how long a silence a comment is written, so that proxies keep the connection. Default: never. */
  keepAliveMs?: number;
}

/** Events as the bytes of a server-sent stream, read on demand. */
export function writeAGUISSE(
  events: ReadableStream<AGUIEvent>,
  options: WriteAGUISSEOptions = {},
): ReadableStream<Uint8Array> {
  return writeFeedSSE(feedOf(events), options);
}

/**
 * A feed as bytes. What comes at once is written at once, as one piece: a model says several words in one packet, and each
 * piece of a stream costs more than the words in it.
 */
export function writeFeedSSE(feed: EventFeed, { keepAliveMs }: WriteAGUISSEOptions): ReadableStream<Uint8Array> {
  const frames = createFrameBytes();
  const { more: addMore } = frames;
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let onWritten: (() => void) | undefined;
  let keepAlive: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  let reads = 0;
  let isReading = false;
  let isWaiting = false;
  let isOver = false;

  const write = (): void => {
    if (frames.length() === 0 || isOver || onWritten === undefined) return;
    controller.enqueue(frames.take());
    reads = 0;
    const resolve = onWritten;
    onWritten = undefined;
    resolve();
  };
  /** What was said is written when all that is there has been read, if it was not by then. */
  const onSaid = (): void => {
    if (isOver) return;
    isWaiting = true;
    afterwards(onRead);
  };
  const onRead = (): void => {
    isWaiting = false;
    write();
  };
  const read = (): void => {
    if (isReading) return;
    isReading = true;
    feed.read();
  };
  const stop = (): void => {
    isOver = true;
    clearInterval(keepAlive);
    onWritten?.();
  };

  const sink: EventSink = {
    event(event) {
      isSilent = false;
      frames.add(event);
      if (!isWaiting) onSaid();
    },
    more(delta, words) {
      isSilent = false;
      addMore(delta, words);
      if (!isWaiting) onSaid();
    },
    ready() {
      reads += 1;
      if (reads >= maxReads || frames.length() >= maxLength) write();
      // Nobody waits, or there was enough for one piece.
      isReading = onWritten !== undefined && !isOver;
      return isReading;
    },
    end() {
      if (isOver) return;
      if (frames.length() > 0) controller.enqueue(frames.take());
      stop();
      controller.close();
    },
    fail(error) {
      if (isOver) return;
      stop();
      controller.error(error);
    },
  };

  return new ReadableStream<Uint8Array>({
    start(own) {
      controller = own;
      feed.open(sink);
      if (keepAliveMs === undefined || isOver) return;
      keepAlive = setInterval(() => {
        // A reader that does not read is not told that we are alive: comments would only pile up.
        if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(new TextEncoder().encode(keepAliveFrame));
        isSilent = true;
      }, keepAliveMs);
    },
    pull: () =>
      new Promise<void>((resolve) => {
        onWritten = resolve;
        // What came while nobody waited.
        if (frames.length() > 0 && !isWaiting) write();
        else read();
      }),
    cancel(reason) {
      stop();
      return feed.leave(reason);
    },
  });
}

/** When all that is there has been read. */
function afterwards(write: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  if (setImmediate) setImmediate(write);
  else setTimeout(write, 0);
}
