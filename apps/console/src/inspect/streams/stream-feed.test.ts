import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import type { RunSnapshot } from '../../inspect-types.ts';
import { StreamFeed } from './stream-feed.ts';
import { uiMessageTarget } from './ui-message-target.ts';

const events: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'x', origin: 0 },
  { type: 'text-delta', id: 'x', delta: 'Hi', origin: 1 },
];
const entries = events.map((event, index) => ({ id: `1.${index + 1}`, event }));
const frames = [0, 1].map((index) => ({ index, at: 0, dialect: 'x', frame: null }));

function feedOf(): { feed: StreamFeed; set: (change: Partial<RunSnapshot>) => void } {
  let snapshot: RunSnapshot = { runId: 'r', entries: [], frames: [], status: 'loading', reconnects: 0 };
  const feed = new StreamFeed({ subscribe: () => () => undefined, snapshot: () => snapshot }, uiMessageTarget(6), {
    internal: false,
    frames: true,
  });
  return { feed, set: (change) => void (snapshot = { ...snapshot, ...change }) };
}

describe('StreamFeed', () => {
  it('goes on with the same table, and gives the same view until something changes', () => {
    const { feed, set } = feedOf();
    const { table } = feed.snapshot();
    set({ entries: entries.slice(0, 2), status: 'live' });
    expect(feed.snapshot().table).toBe(table);
    set({ entries });
    expect(feed.snapshot()).toBe(feed.snapshot());
    expect(table.events).toEqual(events);
  });

  it('begins again where the log did, or where frames come after all', () => {
    const { feed, set } = feedOf();
    set({ entries, status: 'live' });
    const first = feed.snapshot().table;
    set({ entries: [] });
    const second = feed.snapshot().table;
    expect(second).not.toBe(first);
    set({ entries, frames });
    const third = feed.snapshot().table;
    expect(third.hasFrames).toBe(true);
    expect(third.events).toEqual(events);
    expect(third.row(1)).toMatchObject({ frame: 0, event: 1 });
  });
});
