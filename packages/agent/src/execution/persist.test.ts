import { DatabaseUnavailableError, StoreError } from '@intertie/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { persist } from './persist.ts';

const minutes = 60_000;
const onError = (): void => undefined;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Calls a store that fails with the error for a while. */
async function callFailing(failure: Error, ms: number, options: { signal?: AbortSignal } = {}): Promise<unknown> {
  const until = performance.now() + ms;
  const call = async (): Promise<string> => {
    if (performance.now() < until) throw failure;
    return 'answered';
  };
  const result = persist(call, { maxOutageMs: 5 * minutes, onError, ...options }).catch((reason: unknown) => reason);
  await vi.advanceTimersByTimeAsync(10 * minutes);
  return result;
}

it('waits for a database that is away for less than the limit', async () => {
  expect(await callFailing(new DatabaseUnavailableError(), 4 * minutes)).toBe('answered');
});

it('fails after the limit with a message for users and without the error of the driver', async () => {
  const cause = new Error('Connection terminated unexpectedly');
  const error = await callFailing(new DatabaseUnavailableError(undefined, { cause }), 6 * minutes);
  expect(error).toMatchObject({
    name: 'DatabaseUnavailableError',
    message: 'The database has not answered for 5 minutes. Try again later.',
  });
  expect(error).not.toHaveProperty('cause');
});

it('repeats a call for ten seconds after an unknown error', async () => {
  const error = new Error('unknown');
  expect(await callFailing(error, 8_000)).toBe('answered');
  expect(await callFailing(error, 20_000)).toBe(error);
});

it('does not repeat a call that was refused', async () => {
  const refusal = new StoreError('invalid', 'refused');
  expect(await callFailing(refusal, 1)).toBe(refusal);
});

it('stops waiting when the signal is aborted', async () => {
  const error = new DatabaseUnavailableError();
  const call = vi.fn<() => Promise<never>>().mockRejectedValue(error);
  const abort = new AbortController();
  const result = persist(call, { maxOutageMs: 5 * minutes, onError, signal: abort.signal }).catch(
    (reason: unknown) => reason,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  abort.abort();
  expect(await result).toBe(error);
});
