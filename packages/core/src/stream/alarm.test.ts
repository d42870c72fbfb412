import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAlarm } from './alarm.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('createAlarm', () => {
  it('rings once for each time it is set, counted from the first', () => {
    const ring = vi.fn<() => void>();
    const alarm = createAlarm(10, ring);
    alarm.set();
    vi.advanceTimersByTime(6);
    alarm.set();
    vi.advanceTimersByTime(4);
    expect(ring).toHaveBeenCalledTimes(1);
    alarm.set();
    vi.advanceTimersByTime(10);
    expect(ring).toHaveBeenCalledTimes(2);
  });

  it('does not ring when cleared', () => {
    const ring = vi.fn<() => void>();
    const alarm = createAlarm(10, ring);
    alarm.set();
    alarm.clear();
    alarm.clear();
    expect(vi.getTimerCount()).toBe(0);
    expect(ring).not.toHaveBeenCalled();
  });

  it.each([undefined, Infinity, 2 ** 31])('never rings after %s ms', (delay) => {
    createAlarm(delay, () => {}).set();
    expect(vi.getTimerCount()).toBe(0);
  });
});
