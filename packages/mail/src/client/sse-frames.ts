import { createParser } from 'eventsource-parser';
import { iterate } from '@intertie/core';
import { keepAliveFrame, type MAILFrame } from '../shared/mail-event.ts';

/** No event of a swarm is near this; a server that sends more without a blank line sends no events. */
const maxBufferSize = 16 * 1024 * 1024;

/**
 * The frames of an event stream, whatever its line ends and however it is cut into chunks. The event's name is on its own
 * line and not in the data, so both are kept. A chunk that completes no frame is still a sign of life.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<MAILFrame, void> {
  let frames: MAILFrame[] = [];
  let failure: Error | undefined;
  const parser = createParser({
    maxBufferSize,
    onEvent: ({ event = 'message', data }) => void frames.push({ event, data }),
    onError: (error) => {
      // An unknown field is a line to be skipped. A full buffer is the end.
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
