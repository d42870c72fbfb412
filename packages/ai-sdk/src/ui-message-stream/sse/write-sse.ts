import { keepAliveFrame } from './ui-message-sse.ts';

export interface WriteSSEOptions {
  /** After how long a silence a comment is written. Default: never. */
  keepAliveMs?: number | undefined;
  /** The next frames. What it rejects with errors the stream. */
  read: () => Promise<{ frames: string; isLast: boolean }>;
  cancel: (reason: unknown) => Promise<void>;
}

/** Frames as bytes, read on demand, with a sign of life where there are none. */
export function writeSSE({ keepAliveMs, read, cancel }: WriteSSEOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  const stop = (): void => clearInterval(timer);

  return new ReadableStream({
    start: (controller) => {
      if (keepAliveMs === undefined) return;
      // One timer for the whole stream: what is written only says that this round was not silent.
      timer = setInterval(() => {
        // A reader that does not read is not told that we are alive: comments would only pile up.
        if (isSilent && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(keepAliveFrame));
        isSilent = true;
      }, keepAliveMs);
    },
    pull: async (controller) => {
      try {
        const { frames, isLast } = await read();
        isSilent = false;
        controller.enqueue(encoder.encode(frames));
        if (!isLast) return;
        stop();
        controller.close();
      } catch (error) {
        stop();
        throw error;
      }
    },
    cancel: (reason) => {
      stop();
      return cancel(reason);
    },
  });
}
