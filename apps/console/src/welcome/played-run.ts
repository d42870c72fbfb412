import type { AgentEvent, Tape } from '@intertie/core';
import type { LogEntry, RunEvents, RunSnapshot } from '../inspect-types.ts';

/** A tape that plays: its events come at their times, and then it has ended. Plays while anybody listens. */
export function playedRun({ items }: Tape<AgentEvent>): RunEvents {
  const all = items.map(({ item }, index): LogEntry => ({ id: `1.${index + 1}`, event: item }));
  const first = items[0]?.item;
  const runId = first?.type === 'run-start' ? first.runId : 'tape';
  const shot = (count: number): RunSnapshot => ({
    runId,
    entries: all.slice(0, count),
    frames: [],
    status: count < all.length ? 'live' : 'ended',
    reconnects: 0,
  });
  let snapshot = shot(0);
  let startedAt: number | undefined;
  let frame = 0;
  const listeners = new Set<() => void>();

  const tick = (): void => {
    startedAt ??= performance.now();
    const elapsed = performance.now() - startedAt;
    const next = items.findIndex(({ t }) => t > elapsed);
    const count = next === -1 ? all.length : next;
    if (count !== snapshot.entries.length) {
      snapshot = shot(count);
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
