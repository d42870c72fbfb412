import { expect, it } from 'vitest';
import { sseEvents } from './http-events.ts';

function bodyOf(...pieces: string[]): { body: ReadableStream<Uint8Array>; isLeft: () => boolean } {
  let isLeft = false;
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel: () => void (isLeft = true),
    },
    { highWaterMark: 0 },
  );
  return { body, isLeft: () => isLeft };
}

async function eventsIn(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const event of events) all.push(event);
  return all;
}

it('reads events however they are cut, whatever ends their lines, and passes over what is none', async () => {
  const { body } = bodyOf(
    ': keep-alive\r\n\r\nevent: x\r\ndata: {"type":\r\n',
    'data: "A"}\r\n\r\nda',
    'ta: [DONE]\n\ndata: 5\n\nwhat: ever\ndata: {"type":"B"}\n\ndata: {"type":"cut"}',
  );
  expect(await eventsIn(sseEvents(body))).toEqual([{ type: 'A' }, { type: 'B' }]);
});

it('holds no more than an event may be long, and leaves', async () => {
  const { body, isLeft } = bodyOf('data: {"type":"A"}\n\n', 'data: ', 'x'.repeat(60), 'x'.repeat(60), 'never read');
  const events = sseEvents(body, 100);
  expect(await events.next()).toMatchObject({ value: { type: 'A' } });
  await expect(events.next()).rejects.toThrow('longer than 100 characters');
  expect(isLeft()).toBe(true);
});

it('leaves the body when its reader does', async () => {
  const { body, isLeft } = bodyOf('data: {"type":"A"}\n\n', 'data: {"type":"B"}\n\n');
  for await (const _ of sseEvents(body)) break;
  expect(isLeft()).toBe(true);
});
