import type { AgentEvent } from '@intertie/core';
import { createItemClassifier } from '@intertie/core/internal';
import { uiMessageStream } from '@intertie/ai-sdk';
import { describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../inspect-types.ts';
import { StreamStore } from './stream-store.ts';

const events: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'x', origin: 0 },
  { type: 'text-delta', id: 'x', delta: 'Hi', origin: 1 },
];
const entries = events.map((event, index) => ({ id: `1.${index + 1}`, event }));
const frames = [0, 1].map((index) => ({ index, at: 0, dialect: 'x', frame: null }));

function createStore(): { store: StreamStore; set: (change: Partial<RunSnapshot>) => void } {
  let snapshot: RunSnapshot = { runId: 'r', entries: [], frames: [], status: 'loading', reconnects: 0 };
  const store = new StreamStore({ subscribe: () => () => undefined, snapshot: () => snapshot }, uiMessageStream, {
    internal: false,
    frames: true,
    items: createItemClassifier([]),
  });
  return { store, set: (change) => void (snapshot = { ...snapshot, ...change }) };
}

describe('StreamStore', () => {
  it('extends the same table and returns the same view until the run changes', () => {
    const { store, set } = createStore();
    const { table } = store.snapshot();
    set({ entries: entries.slice(0, 2), status: 'live' });
    expect(store.snapshot().table).toBe(table);
    set({ entries });
    expect(store.snapshot()).toBe(store.snapshot());
    expect(table.events).toEqual(events);
  });

  it('creates a new table after a log reset and when frames become available', () => {
    const { store, set } = createStore();
    set({ entries, status: 'live' });
    const first = store.snapshot().table;
    set({ entries: [] });
    const second = store.snapshot().table;
    expect(second).not.toBe(first);
    set({ entries, frames });
    const third = store.snapshot().table;
    expect(third.hasFrames).toBe(true);
    expect(third.events).toEqual(events);
    expect(third.row(1)).toMatchObject({ frame: 0, event: 1 });
  });
});
