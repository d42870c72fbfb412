import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Hint } from '../store/hints.ts';
import type { RunKey, RunPosition } from '../store/run-log.ts';
import { createRunWatcher } from './run-watcher.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const key = (name: string): RunKey => name as RunKey;
const at = (next: number): RunPosition => ({ epoch: 1, next, stop: false, live: true });

function setup(options: { isConnected?: boolean; written?: string } = {}) {
  const listeners = new Set<(hint: Hint) => void>();
  const polls: RunKey[][] = [];
  const positions = new Map<RunKey, RunPosition>();
  let failure: Error | undefined;
  const hints = {
    publish: (hint: Hint): void => {
      for (const listener of listeners) listener(hint);
    },
    subscribe: (listener: (hint: Hint) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    isConnected: () => options.isConnected ?? true,
  };
  const log = {
    positions: async (runs: readonly RunKey[]) => {
      polls.push([...runs]);
      if (failure) throw failure;
      return positions;
    },
  };
  const onError = vi.fn<(error: unknown) => void>();
  const local = { writes: (run: RunKey) => run === options.written };
  const watcher = createRunWatcher({ log, hints, onError, process: 'p1', local });
  return { watcher, hints, polls, positions, listeners, onError, fail: (error?: Error) => void (failure = error) };
}

it('polls once for all runs, even after many hints', async () => {
  const { watcher, hints, polls, positions } = setup();
  positions.set(key('r1'), at(3));
  const [one, two] = [vi.fn<(position?: RunPosition) => void>(), vi.fn<(position?: RunPosition) => void>()];
  watcher.watch(key('r1'), one);
  watcher.watch(key('r2'), two);
  await vi.advanceTimersByTimeAsync(15);
  expect(polls).toEqual([['r1', 'r2']]);
  expect(one.mock.calls).toEqual([[at(3)]]);
  expect(two.mock.calls).toEqual([[undefined]]);
  for (let n = 0; n < 100; n++) hints.publish({ type: 'flushed', process: `p${n}` });
  await vi.advanceTimersByTimeAsync(15);
  expect(polls).toHaveLength(2);
});

it('polls at intervals, more often while hints are disconnected', async () => {
  for (const [isConnected, expected] of [
    [true, 3],
    [false, 9],
  ] as const) {
    const { watcher, polls } = setup({ isConnected });
    const unwatch = watcher.watch(key('r1'), () => {});
    await vi.advanceTimersByTimeAsync(2_100);
    expect(polls).toHaveLength(expected);
    unwatch();
  }
});

it('polls on stops and answers of watched runs and on flushes of other processes', async () => {
  const { watcher, hints, polls } = setup({ written: 'r1' });
  watcher.watch(key('r1'), () => {});
  await vi.advanceTimersByTimeAsync(15);
  hints.publish({ type: 'flushed', process: 'p1' });
  hints.publish({ type: 'stop', run: key('r2') });
  hints.publish({ type: 'thread', scope: 's', threadId: 't' });
  await vi.advanceTimersByTimeAsync(100);
  expect(polls).toHaveLength(1);
  for (const hint of [
    { type: 'flushed', process: 'p2' },
    { type: 'stop', run: key('r1') },
    { type: 'answer', run: key('r1') },
  ] satisfies Hint[]) {
    hints.publish(hint);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(polls).toHaveLength(4);
  // The local flusher does not write r2, so a flush of this process may concern it.
  watcher.watch(key('r2'), () => {});
  await vi.advanceTimersByTimeAsync(100);
  hints.publish({ type: 'flushed', process: 'p1' });
  await vi.advanceTimersByTimeAsync(100);
  expect(polls).toHaveLength(6);
});

it('polls again after a hint during a poll', async () => {
  const { watcher, hints, polls } = setup();
  watcher.watch(key('r1'), () => {
    if (polls.length < 2) hints.publish({ type: 'flushed', process: 'p2' });
  });
  await vi.advanceTimersByTimeAsync(100);
  expect(polls).toHaveLength(2);
});

it('continues after a failed poll', async () => {
  const { watcher, polls, positions, onError, fail } = setup();
  const listener = vi.fn<(position?: RunPosition) => void>();
  positions.set(key('r1'), at(1));
  fail(new Error('away'));
  watcher.watch(key('r1'), listener);
  await vi.advanceTimersByTimeAsync(15);
  expect([polls.length, onError.mock.calls.length, listener.mock.calls.length]).toEqual([1, 1, 0]);
  fail();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(listener).toHaveBeenCalledWith(at(1));
});

it('stops its timers and subscription when no run is watched', async () => {
  const { watcher, listeners } = setup();
  const unwatch = [watcher.watch(key('r1'), () => {}), watcher.watch(key('r1'), () => {})];
  await vi.advanceTimersByTimeAsync(15);
  for (const each of unwatch) each();
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
  watcher.watch(key('r1'), () => {});
  watcher.close();
  await vi.advanceTimersByTimeAsync(0);
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
});

it('stops its timers when the last listener leaves during a poll', async () => {
  const { watcher } = setup();
  const unwatch = watcher.watch(key('r1'), () => unwatch());
  await vi.advanceTimersByTimeAsync(15);
  expect(vi.getTimerCount()).toBe(0);
});
