import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttleSubscribe } from './throttle-subscribe.ts';

describe('throttleSubscribe', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const createSource = () => {
    const listeners = new Set<() => void>();
    return {
      subscribe: (listener: () => void) => (listeners.add(listener), () => void listeners.delete(listener)),
      change: () => {
        for (const listener of listeners) listener();
      },
      listeners,
    };
  };

  it('notifies of the first change immediately and of later ones together', () => {
    const { subscribe, change } = createSource();
    const listener = vi.fn<() => void>();
    throttleSubscribe(subscribe, 50)(listener);
    for (let time = 0; time < 90; time += 10) {
      change();
      vi.advanceTimersByTime(10);
    }
    expect(listener.mock.calls.length).toBe(2);
    vi.advanceTimersByTime(50);
    expect(listener.mock.calls.length).toBe(3);
    vi.advanceTimersByTime(500);
    expect(listener.mock.calls.length).toBe(3);
    change();
    expect(listener.mock.calls.length).toBe(4);
  });

  it('notifies less often when rendering is slow', async () => {
    let time = 0;
    const { subscribe, change } = createSource();
    const listener = vi.fn<() => void>(() => void (time += 40));
    throttleSubscribe(subscribe, 50, () => time)(listener);
    change();
    await Promise.resolve();
    change();
    vi.advanceTimersByTime(190);
    expect(listener.mock.calls.length).toBe(1);
    vi.advanceTimersByTime(10);
    expect(listener.mock.calls.length).toBe(2);
  });

  it('does not notify after unsubscribing', () => {
    const { subscribe, change, listeners } = createSource();
    const listener = vi.fn<() => void>();
    const unsubscribe = throttleSubscribe(subscribe, 50)(listener);
    change();
    change();
    unsubscribe();
    vi.advanceTimersByTime(500);
    expect(listener.mock.calls.length).toBe(1);
    expect(listeners.size).toBe(0);
  });
});
