import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAlarm } from './alarm.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('createAlarm', () => {
  it('fires once per start, and ignores further starts while running', () => {
    const onTimeout = vi.fn<() => void>();
    const alarm = createAlarm(10, onTimeout);
    alarm.set();
    vi.advanceTimersByTime(6);
    alarm.set();
    vi.advanceTimersByTime(4);
    expect(onTimeout).toHaveBeenCalledTimes(1);
    alarm.set();
    vi.advanceTimersByTime(10);
    expect(onTimeout).toHaveBeenCalledTimes(2);
  });

  it('does not fire after it was cleared', () => {
    const onTimeout = vi.fn<() => void>();
    const alarm = createAlarm(10, onTimeout);
    alarm.set();
    alarm.clear();
    alarm.clear();
    expect(vi.getTimerCount()).toBe(0);
    expect(onTimeout).not.toHaveBeenCalled();
  });

  it.each([undefined, Infinity, 2 ** 31])('never fires for a delay of %s ms', (delay) => {
    createAlarm(delay, () => {}).set();
    expect(vi.getTimerCount()).toBe(0);
  });
});
