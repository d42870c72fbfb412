import type { AgentEvent, Tape } from '@intertie/core';
import type { LogEntry, RunEvents, RunSnapshot } from '../inspect-types.ts';

/** Plays a tape in real time: publishes its events at their times while there are listeners. */
export function playTape({ items }: Tape<AgentEvent>): RunEvents {
  const all = items.map(({ item }, index): LogEntry => ({ id: `1.${index + 1}`, event: item }));
  const first = items[0]?.item;
  const runId = first?.type === 'run-start' ? first.runId : 'tape';
  const createSnapshot = (count: number): RunSnapshot => ({
    runId,
    entries: all.slice(0, count),
    frames: [],
    status: count < all.length ? 'live' : 'ended',
    reconnects: 0,
  });
  let snapshot = createSnapshot(0);
  let startedAt: number | undefined;
  let frame = 0;
  const listeners = new Set<() => void>();

  const tick = (): void => {
    startedAt ??= performance.now();
    const elapsed = performance.now() - startedAt;
    const next = items.findIndex(({ t }) => t > elapsed);
    const count = next === -1 ? all.length : next;
    if (count !== snapshot.entries.length) {
      snapshot = createSnapshot(count);
      for (const listener of listeners) listener();
    }
    if (count < all.length) frame = requestAnimationFrame(tick);
  };

  return {
    snapshot: () => snapshot,
    subscribe: (listener) => {
      listeners.add(listener);
      if (listeners.size === 1 && snapshot.status === 'live') frame = requestAnimationFrame(tick);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) cancelAnimationFrame(frame);
      };
    },
  };
}
