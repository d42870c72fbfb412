import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One server-sent event. `id` is empty if the event has none. */
export type SSEEvent = { id: string; event: string; data: string };

/**
 * Reads server-sent events and yields the events of each chunk together, which costs one promise per chunk. Drops an incomplete
 * last event, as the standard requires.
 */
export async function* readSSE(body: ReadableStream<Uint8Array>): AsyncGenerator<SSEEvent[]> {
  let events: SSEEvent[] = [];
  const onEvent = ({ id = '', event = 'message', data }: EventSourceMessage): void =>
    void events.push({ id, event, data });
  const parser = createParser({ onEvent });
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(value);
      if (events.length === 0) continue;
      yield events;
      events = [];
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
