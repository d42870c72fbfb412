import { describe, expect, it } from 'vitest';
import { readSSE, type SSEEvent } from './sse.ts';

function toStream(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function readAll(chunks: Iterable<string>): Promise<SSEEvent[]> {
  const bytes = [...chunks].map((chunk) => new TextEncoder().encode(chunk));
  const events: SSEEvent[] = [];
  for await (const batch of readSSE(toStream(bytes))) events.push(...batch);
  return events;
}

describe('readSSE', () => {
  const text = ': hello\r\nid: 1.1\ndata: {"a":1}\n\nevent: reset\ndata: {}\n\ndata: one\ndata: two\n\n';
  const events = [
    { id: '1.1', event: 'message', data: '{"a":1}' },
    { id: '', event: 'reset', data: '{}' },
    { id: '', event: 'message', data: 'one\ntwo' },
  ];

  it('reads the same events for any chunk size', async () => {
    for (let size = 1; size <= text.length; size += 1) {
      const chunks: string[] = [];
      for (let at = 0; at < text.length; at += size) chunks.push(text.slice(at, at + size));
      expect(await readAll(chunks)).toEqual(events);
    }
  });

  it('drops an incomplete event at the end of the stream', async () => {
    expect(await readAll(['data: half\n'])).toEqual([]);
  });
});
