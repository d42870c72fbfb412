import { keepAliveFrame } from './ui-message-sse.ts';

export interface WriteSSEOptions {
  /** Idle time after which a comment is written. Default: never. */
  keepAliveMs?: number | undefined;
  /** Returns the next frames. A rejection errors the stream. */
  read: () => Promise<{ frames: string; isLast: boolean }>;
  cancel: (reason: unknown) => Promise<void>;
}

/** Encodes frames as a byte stream, read on demand, with keep-alive comments while idle. */
export function writeSSE({ keepAliveMs, read, cancel }: WriteSSEOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let isSilent = true;
  const stop = (): void => clearInterval(timer);

  return new ReadableStream({
    start: (controller) => {
      if (keepAliveMs === undefined) return;
      // One interval for the whole stream, instead of resetting a timeout with every frame.
      timer = setInterval(() => {
        // No comments for a reader that does not read: they would accumulate.
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
