import { createParser } from 'eventsource-parser';
import { iterate } from '@intertie/core';
import { keepAliveFrame, type MAILFrame } from '../shared/mail-event.ts';

/** Far above any MAIL event: a server that exceeds this without a blank line does not send events. */
const maxBufferSize = 16 * 1024 * 1024;

/**
 * Parses an event stream into frames. The event's name is on its own line and not in the data, so a frame has both. Yields a
 * `keepAliveFrame` for a chunk that completes no frame.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<MAILFrame, void> {
  let frames: MAILFrame[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize,
    onEvent: ({ event = 'message', data }) => void frames.push({ event, data }),
    onError: (error) => {
      // Unknown fields are ignored, as the SSE specification requires. A full buffer is fatal.
      if (error.type === 'max-buffer-size-exceeded') failure = error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of iterate(body)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (frames.length === 0) yield keepAliveFrame;
    else yield* frames;
    frames = [];
    if (failure) throw failure;
  }
}
