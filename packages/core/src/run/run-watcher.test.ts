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
  const looks: RunKey[][] = [];
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
      looks.push([...runs]);
      if (failure) throw failure;
      return positions;
    },
  };
  const onError = vi.fn<(error: unknown) => void>();
  const local = { writes: (run: RunKey) => run === options.written };
  const watcher = createRunWatcher({ log, hints, onError, process: 'p1', local });
  return { watcher, hints, looks, positions, listeners, onError, fail: (error?: Error) => void (failure = error) };
}

it('looks once for all runs, also when many hints come at once', async () => {
  const { watcher, hints, looks, positions } = setup();
  positions.set(key('r1'), at(3));
  const [one, two] = [vi.fn<(position?: RunPosition) => void>(), vi.fn<(position?: RunPosition) => void>()];
  watcher.watch(key('r1'), one);
  watcher.watch(key('r2'), two);
  await vi.advanceTimersByTimeAsync(15);
  expect(looks).toEqual([['r1', 'r2']]);
  expect(one.mock.calls).toEqual([[at(3)]]);
  expect(two.mock.calls).toEqual([[undefined]]);
  for (let n = 0; n < 100; n++) hints.publish({ type: 'flushed', process: `p${n}` });
  await vi.advanceTimersByTimeAsync(15);
  expect(looks).toHaveLength(2);
});

it('looks now and then without a hint, more often where none can come', async () => {
  for (const [isConnected, expected] of [
    [true, 3],
    [false, 9],
  ] as const) {
    const { watcher, looks } = setup({ isConnected });
    const leave = watcher.watch(key('r1'), () => {});
    await vi.advanceTimersByTimeAsync(2_100);
    expect(looks).toHaveLength(expected);
    leave();
  }
});

it('minds stops and answers of the runs it watches, and flushes of other processes', async () => {
  const { watcher, hints, looks } = setup({ written: 'r1' });
  watcher.watch(key('r1'), () => {});
  await vi.advanceTimersByTimeAsync(15);
  hints.publish({ type: 'flushed', process: 'p1' });
  hints.publish({ type: 'stop', run: key('r2') });
  hints.publish({ type: 'thread', scope: 's', threadId: 't' });
  await vi.advanceTimersByTimeAsync(100);
  expect(looks).toHaveLength(1);
  for (const hint of [
    { type: 'flushed', process: 'p2' },
    { type: 'stop', run: key('r1') },
    { type: 'answer', run: key('r1') },
  ] satisfies Hint[]) {
    hints.publish(hint);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(looks).toHaveLength(4);
  // Of a run that nobody writes through the flusher here, its own process may have written the end.
  watcher.watch(key('r2'), () => {});
  await vi.advanceTimersByTimeAsync(100);
  hints.publish({ type: 'flushed', process: 'p1' });
  await vi.advanceTimersByTimeAsync(100);
  expect(looks).toHaveLength(6);
});

it('looks again if it is told of something during a look', async () => {
  const { watcher, hints, looks } = setup();
  watcher.watch(key('r1'), () => {
    if (looks.length < 2) hints.publish({ type: 'flushed', process: 'p2' });
  });
  await vi.advanceTimersByTimeAsync(100);
  expect(looks).toHaveLength(2);
});

it('goes on after a look that failed', async () => {
  const { watcher, looks, positions, onError, fail } = setup();
  const listener = vi.fn<(position?: RunPosition) => void>();
  positions.set(key('r1'), at(1));
  fail(new Error('away'));
  watcher.watch(key('r1'), listener);
  await vi.advanceTimersByTimeAsync(15);
  expect([looks.length, onError.mock.calls.length, listener.mock.calls.length]).toEqual([1, 1, 0]);
  fail();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(listener).toHaveBeenCalledWith(at(1));
});

it('leaves nothing running when nobody watches', async () => {
  const { watcher, listeners } = setup();
  const leave = [watcher.watch(key('r1'), () => {}), watcher.watch(key('r1'), () => {})];
  await vi.advanceTimersByTimeAsync(15);
  for (const each of leave) each();
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
  watcher.watch(key('r1'), () => {});
  watcher.close();
  await vi.advanceTimersByTimeAsync(0);
  expect([listeners.size, vi.getTimerCount()]).toEqual([0, 0]);
});

it('leaves nothing running when the last one leaves during a look', async () => {
  const { watcher } = setup();
  const leave = watcher.watch(key('r1'), () => leave());
  await vi.advanceTimersByTimeAsync(15);
  expect(vi.getTimerCount()).toBe(0);
});
