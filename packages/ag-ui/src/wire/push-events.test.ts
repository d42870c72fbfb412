import { expect, it } from 'vitest';
import { pushEvents, type EventSink } from './push-events.ts';

async function readAll(start: (sink: EventSink) => () => void): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of pushEvents(start)) events.push(event);
  return events;
}

it('yields the events that were pushed before the end, and stops the producer once', async () => {
  let stops = 0;
  const events = await readAll((sink) => {
    sink.next(1);
    setTimeout(() => {
      sink.next(2);
      sink.complete();
      sink.next(3);
    });
    return () => void (stops += 1);
  });
  expect({ events, stops }).toEqual({ events: [1, 2], stops: 1 });
});

it('yields the events that the producer pushes before its end while the reader handles an earlier event', async () => {
  let sink: EventSink | undefined;
  const events: unknown[] = [];
  const start = (to: EventSink): (() => void) => {
    sink = to;
    to.next(1);
    return () => undefined;
  };
  for await (const event of pushEvents(start)) {
    events.push(event);
    if (event !== 1) continue;
    sink!.next(2);
    sink!.complete();
  }
  expect(events).toEqual([1, 2]);
});

it('throws the error of the producer after its events', async () => {
  const start = (sink: EventSink): (() => void) => {
    sink.error(new Error('No connection.'));
    return () => undefined;
  };
  await expect(readAll(start)).rejects.toThrow('No connection.');
});

it('fails if the producer is too far ahead of the reader', async () => {
  let stops = 0;
  const start = (sink: EventSink): (() => void) => {
    for (let event = 0; event < 200_000; event++) sink.next(event);
    return () => void (stops += 1);
  };
  await expect(readAll(start)).rejects.toThrow('100000 events ahead of its reader');
  expect(stops).toBe(1);
});
