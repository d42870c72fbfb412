import { afterEach, expect, it, vi } from 'vitest';
import { pause } from './pause.ts';

afterEach(() => void vi.useRealTimers());

it('resolves after the delay and removes its abort listener', async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const removed = vi.spyOn(signal, 'removeEventListener');
  const waiting = pause(1000, signal);
  await vi.advanceTimersByTimeAsync(1000);
  await expect(waiting).resolves.toBeUndefined();
  expect(removed).toHaveBeenCalledOnce();
});

it('rejects on an abort, including an earlier one, and leaves no timer', async () => {
  vi.useFakeTimers();
  const controller = new AbortController();
  const waiting = pause(1000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(pause(1000, controller.signal)).rejects.toThrow('enough');
  expect(vi.getTimerCount()).toBe(0);
});
