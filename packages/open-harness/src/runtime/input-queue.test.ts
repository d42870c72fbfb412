import { expect, test, vi } from 'vitest';
import { createInputQueue } from './input-queue.ts';

test('delivers a failure after all earlier items', async () => {
  const queue = createInputQueue<number>(() => undefined);
  queue.push(1);
  queue.push(2);
  queue.fail(new Error('Torn.'));
  queue.push(3);
  const reader = queue.stream.getReader();
  expect([(await reader.read()).value, (await reader.read()).value]).toEqual([1, 2]);
  await expect(reader.read()).rejects.toThrow('Torn.');
});

test('wakes a waiting reader for an item and for the end', async () => {
  const queue = createInputQueue<number>(() => undefined);
  const reader = queue.stream.getReader();
  const first = reader.read();
  queue.push(1);
  expect(await first).toMatchObject({ value: 1 });
  const last = reader.read();
  queue.close();
  expect(await last).toMatchObject({ done: true });
});

test('passes unread items to onCancel, even while a read is pending', async () => {
  const onCancel = vi.fn<(reason: unknown, unread: number[]) => void>();
  const queue = createInputQueue<number>(onCancel);
  for (const item of [1, 2, 3]) queue.push(item);
  const reader = queue.stream.getReader();
  await reader.read();
  await reader.cancel('enough');
  expect(onCancel.mock.calls).toEqual([['enough', [2, 3]]]);

  const waiting = createInputQueue<number>(onCancel);
  const waiter = waiting.stream.getReader();
  const read = waiter.read();
  await waiter.cancel('gone');
  expect(await read).toMatchObject({ done: true });
  expect(onCancel).toHaveBeenLastCalledWith('gone', []);
});
