import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ReadyCheck } from './ready-check.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The error of a check after some time, or `undefined` if the check is successful. */
async function outcomeAfter(ms: number, ready: ReadyCheck): Promise<string | undefined> {
  const outcome = ready.run().then(
    () => undefined,
    (error: unknown) => String(error),
  );
  await vi.advanceTimersByTimeAsync(ms);
  return outcome;
}

const limits = { timeoutMs: 1_500, freshMs: 1_000 };

it('fails after its time limit while the check does not end, and starts no other check', async () => {
  const check = vi.fn<() => Promise<void>>(() => new Promise(() => undefined));
  const ready = new ReadyCheck(check, limits);
  expect(await outcomeAfter(1_500, ready)).toContain('1500 ms');
  expect(await outcomeAfter(0, ready)).toContain('1500 ms');
  expect(check).toHaveBeenCalledTimes(1);
});

it('uses a result again for a second, whether it is good or bad', async () => {
  const check = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue();
  const ready = new ReadyCheck(check, limits);
  await expect(ready.run()).rejects.toThrow('away');
  await expect(ready.run()).rejects.toThrow('away');
  vi.advanceTimersByTime(1_000);
  await Promise.all([ready.run(), ready.run()]);
  await ready.run();
  expect(check).toHaveBeenCalledTimes(2);
});

it('recovers when a check that was late ends', async () => {
  let end = (): void => undefined;
  const check = vi
    .fn<() => Promise<void>>()
    .mockImplementationOnce(() => new Promise((resolve) => (end = resolve)))
    .mockResolvedValue();
  const ready = new ReadyCheck(check, limits);
  expect(await outcomeAfter(1_500, ready)).toContain('1500 ms');
  end();
  await vi.advanceTimersByTimeAsync(1_000);
  await ready.run();
});
