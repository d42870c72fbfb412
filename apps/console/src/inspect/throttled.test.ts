import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttled } from './throttled.ts';

describe('throttled', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const source = () => {
    const listeners = new Set<() => void>();
    return {
      subscribe: (listener: () => void) => (listeners.add(listener), () => void listeners.delete(listener)),
      change: () => {
        for (const listener of listeners) listener();
      },
      listeners,
    };
  };

  it('tells the first at once, the rest together, and the last for sure', () => {
    const { subscribe, change } = source();
    const told = vi.fn<() => void>();
    throttled(subscribe, 50)(told);
    for (let time = 0; time < 90; time += 10) {
      change();
      vi.advanceTimersByTime(10);
    }
    expect(told.mock.calls.length).toBe(2);
    vi.advanceTimersByTime(50);
    expect(told.mock.calls.length).toBe(3);
    vi.advanceTimersByTime(500);
    expect(told.mock.calls.length).toBe(3);
    change();
    expect(told.mock.calls.length).toBe(4);
  });

  it('tells less often what takes long to draw', async () => {
    let time = 0;
    const { subscribe, change } = source();
    const told = vi.fn<() => void>(() => void (time += 40));
    throttled(subscribe, 50, () => time)(told);
    change();
    await Promise.resolve();
    change();
    vi.advanceTimersByTime(190);
    expect(told.mock.calls.length).toBe(1);
    vi.advanceTimersByTime(10);
    expect(told.mock.calls.length).toBe(2);
  });

  it('tells nobody who has left', () => {
    const { subscribe, change, listeners } = source();
    const told = vi.fn<() => void>();
    const leave = throttled(subscribe, 50)(told);
    change();
    change();
    leave();
    vi.advanceTimersByTime(500);
    expect(told.mock.calls.length).toBe(1);
    expect(listeners.size).toBe(0);
  });
});
