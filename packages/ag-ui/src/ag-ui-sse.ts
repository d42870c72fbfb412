import { toJson } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';

const keepAliveFrame = ': keep-alive\n\n';

export const aguiSSEHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies that buffer would hold the answer back until it is complete.
  'x-accel-buffering': 'no',
};

/** One event as a frame. Lines end with LF alone: clients split at nothing else. */
export function toAGUIFrame(event: AGUIEvent): string {
  return `data: ${toAGUIText(event)}\n\n`;
}

export function toAGUIText(event: AGUIEvent): string {
  try {
    return JSON.stringify(event);
  } catch {
    // An event that somebody added, with something in it that JSON cannot say.
    return JSON.stringify(toJson(event));
  }
}

export interface WriteAGUISSEOptions {
  /** After how long a silence a comment is written, so that proxies keep the connection. Default: never. */
  keepAliveMs?: number;
}

/** Events as the bytes of a server-sent stream, read on demand. */
export function writeAGUISSE(
  events: ReadableStream<AGUIEvent>,
  { keepAliveMs }: WriteAGUISSEOptions = {},
): ReadableStream<Uint8Array> {
  const reader = events.getReader();
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  const stop = (): void => clearInterval(timer);
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (keepAliveMs === undefined) return;
      timer = setInterval(() => {
        // A reader that does not read is not told that we are alive: comments would only pile up.
        if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(keepAliveFrame));
        isSilent = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        isSilent = false;
        if (!done) return controller.enqueue(encoder.encode(toAGUIFrame(value)));
        stop();
        controller.close();
      } catch (error) {
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
