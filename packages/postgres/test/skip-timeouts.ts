import { setImmediate } from 'node:timers/promises';

import { vi } from 'vitest';

const limitMs = 30_000;

/** Starts work that must end by its own time limits, and skips the waiting time. Fails if they add up to more than 30 s. */
export async function skipTimeouts<Result>(start: () => Promise<Result>): Promise<Result> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const work = { isSettled: false };
    const settle = (): void => void (work.isSettled = true);
    const result = start();
    result.then(settle, settle);
    for (let passedMs = 0; !work.isSettled; await setImmediate()) {
      if (vi.getTimerCount() === 0) continue;
      if (passedMs >= limitMs) throw new Error(`The work has not ended after ${limitMs} ms.`);
      await vi.advanceTimersByTimeAsync(100);
      passedMs += 100;
    }
    return await result;
  } finally {
    vi.useRealTimers();
  }
}
