import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toAGUIFrame } from './ag-ui-frame.ts';

const keepAliveFrame = ': keep-alive\n\n';
/** Size at which a chunk is written without waiting for further events, in characters. */
const maxChunkLength = 16_384;

/** Response headers for `writeAGUISSE`. */
export const aguiSSEHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Disables response buffering in nginx and compatible proxies.
  'x-accel-buffering': 'no',
};

export interface WriteAGUISSEOptions {
  /** Interval without events after which a comment is written, so that proxies keep the connection. Default: never. */
  keepAliveMs?: number;
}

/**
 * Writes events as a server-sent event stream, read on demand. Events that are available at once share a chunk: a model
 * sends several deltas in one packet, and passing a chunk on costs more than encoding an event.
 */
export function writeAGUISSE(
  events: ReadableStream<AGUIEvent>,
  { keepAliveMs }: WriteAGUISSEOptions = {},
): ReadableStream<Uint8Array> {
  const reader = events.getReader();
  const encoder = new TextEncoder();
  let keepAlive: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  let isOver = false;
  let frames = '';

  const stop = (): void => {
    isOver = true;
    clearInterval(keepAlive);
  };

  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (keepAliveMs === undefined) return;
      keepAlive = setInterval(() => {
        // Not while the client is not reading: comments would only fill the queue.
        if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(keepAliveFrame));
        isSilent = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      const flush = (): void => {
        if (frames === '' || isOver) return;
        controller.enqueue(encoder.encode(frames));
        frames = '';
      };
      try {
        do {
          const { done, value } = await reader.read();
          if (isOver) return;
          if (done) {
            flush();
            stop();
            return controller.close();
          }
          isSilent = false;
          if (frames === '') afterPendingReads(flush);
          frames += toAGUIFrame(value);
          if (frames.length >= maxChunkLength) flush();
        } while ((controller.desiredSize ?? 0) > 0);
      } catch (error) {
        flush();
        stop();
        throw error;
      }
    },
    cancel(reason) {
      stop();
      return reader.cancel(reason);
    },
  });
}

/** Calls back once every read that can complete without I/O has completed. */
function afterPendingReads(callback: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
  if (setImmediate) setImmediate(callback);
  else setTimeout(callback, 0);
}
