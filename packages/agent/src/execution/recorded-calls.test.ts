import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { RecordedCalls } from './recorded-calls.ts';

it('removes its abort listeners when a call is recorded', async () => {
  const calls = new RecordedCalls();
  const { signal } = new AbortController();
  const waits = ['a', 'a', 'b'].map((id) => calls.wait(id, signal));
  expect(getEventListeners(signal, 'abort')).toHaveLength(3);
  calls.add('a');
  calls.add('b');
  await Promise.all(waits);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('resolves when the run is stopped before the call is recorded', async () => {
  const controller = new AbortController();
  const wait = new RecordedCalls().wait('a', controller.signal);
  controller.abort();
  await expect(wait).resolves.toBeUndefined();
});
