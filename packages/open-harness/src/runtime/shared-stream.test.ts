import { expect, test, vi } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { SharedStream } from './shared-stream.ts';

function createCounter(limit: number): { source: ReadableStream<number>; cancel: () => void; pulled: () => number } {
  let count = 0;
  const cancel = vi.fn<() => void>();
  const source = new ReadableStream<number>(
    {
      pull(controller) {
        count += 1;
        if (count > limit) controller.close();
        else controller.enqueue(count);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  return { source, cancel, pulled: () => count };
}

test('delivers all items to each reader and reads the source once, on demand', async () => {
  const { source, pulled } = createCounter(3);
  const onOver = vi.fn<() => void>();
  const shared = new SharedStream(source, { onDisconnect: 'stop', onOver });
  const first = shared.open();
  expect(pulled()).toBe(0);
  expect(await Promise.all([readAll(first), readAll(shared.open())])).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(await readAll(shared.open())).toEqual([1, 2, 3]);
  expect(pulled()).toBe(4);
  expect(onOver).toHaveBeenCalledTimes(1);
});

test('stops or continues after the last reader, depending on onDisconnect', async () => {
  const stopped = createCounter(Infinity);
  const shared = new SharedStream(stopped.source, { onDisconnect: 'stop', onOver: () => undefined });
  const [one, two] = [shared.open(), shared.open()];
  await one.cancel();
  expect(stopped.cancel).not.toHaveBeenCalled();
  await two.cancel();
  expect(stopped.cancel).toHaveBeenCalledTimes(1);

  const going = createCounter(5);
  const onOver = vi.fn<() => void>();
  await new SharedStream(going.source, { onDisconnect: 'continue', onOver }).open().cancel();
  await expect.poll(() => onOver.mock.calls.length).toBe(1);
  expect(going.cancel).not.toHaveBeenCalled();
});

test('delivers a failure to every reader', async () => {
  const source = new ReadableStream<number>({ pull: (controller) => controller.error(new Error('Torn.')) });
  const shared = new SharedStream(source, { onDisconnect: 'stop', onOver: () => undefined });
  const readers = [readAll(shared.open()), readAll(shared.open())];
  for (const reader of readers) await expect(reader).rejects.toThrow('Torn.');
});
