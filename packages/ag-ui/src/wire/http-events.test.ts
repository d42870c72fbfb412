import { expect, it } from 'vitest';
import { sseEvents } from './http-events.ts';

function createBody(...pieces: string[]): { body: ReadableStream<Uint8Array>; isCancelled: () => boolean } {
  let isCancelled = false;
  const remaining = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = remaining.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { body, isCancelled: () => isCancelled };
}

async function eventsIn(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const event of events) all.push(event);
  return all;
}

it('parses events across chunk boundaries and line endings, and ignores other frames', async () => {
  const { body } = createBody(
    ': keep-alive\r\n\r\nevent: x\r\ndata: {"type":\r\n',
    'data: "A"}\r\n\r\nda',
    'ta: [DONE]\n\ndata: 5\n\nwhat: ever\ndata: {"type":"B"}\n\ndata: {"type":"cut"}',
  );
  expect(await eventsIn(sseEvents(body))).toEqual([{ type: 'A' }, { type: 'B' }]);
});

it('rejects an event above the maximum size and cancels the body', async () => {
  const { body, isCancelled } = createBody(
    'data: {"type":"A"}\n\n',
    'data: ',
    'x'.repeat(60),
    'x'.repeat(60),
    'never read',
  );
  const events = sseEvents(body, 100);
  expect(await events.next()).toMatchObject({ value: { type: 'A' } });
  await expect(events.next()).rejects.toThrow('longer than 100 characters');
  expect(isCancelled()).toBe(true);
});

it('cancels the body when the generator is left', async () => {
  const { body, isCancelled } = createBody('data: {"type":"A"}\n\n', 'data: {"type":"B"}\n\n');
  for await (const _ of sseEvents(body)) break;
  expect(isCancelled()).toBe(true);
});
