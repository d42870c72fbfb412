import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { DecodedCalls } from './decoded-calls.ts';

it('leaves no abort listener behind when a tool call is read', async () => {
  const { signal } = new AbortController();
  const calls = new DecodedCalls(signal);
  const claimed = [calls.claim('a'), calls.claim('a')];
  expect(getEventListeners(signal, 'abort')).toHaveLength(2);
  calls.add('a', 'call_1');
  calls.add('a', 'call_2');
  expect(await Promise.all(claimed)).toEqual(['call_1', 'call_2']);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('rejects when the run is stopped before the call is read', async () => {
  const controller = new AbortController();
  const claimed = new DecodedCalls(controller.signal).claim('a');
  controller.abort();
  await expect(claimed).rejects.toThrow('stopped before the tool ran');
});
