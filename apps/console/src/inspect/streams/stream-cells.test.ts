import type { AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { cellAside, cellAt, litIn, nextViolation } from './stream-cells.ts';
import { StreamTable } from './stream-table.ts';
import { uiMessageTarget } from './ui-message-target.ts';

describe('the cells of a row', () => {
  const row = { target: 4, cause: 2, origin: 1 };

  it('are found in the column, or in another', () => {
    expect(cellAt(row, 'event')).toEqual({ column: 'target', index: 4 });
    expect(cellAt({ frame: 1, event: 2 }, 'frame')).toEqual({ column: 'frame', index: 1 });
    expect(cellAt({}, 'event')).toBeUndefined();
  });

  it('lead aside to what they come from', () => {
    expect(cellAside(row, 'target', -1)).toEqual({ column: 'event', index: 2 });
    expect(cellAside(row, 'event', -1)).toEqual({ column: 'frame', index: 1 });
    expect(cellAside({ event: 0, cause: 0, target: 3 }, 'event', -1)).toBeUndefined();
  });

  it('light up with their relatives', () => {
    expect(litIn({ frame: 1, event: 2, target: 3 }, { frames: [1, 1], events: [2, 4], targets: [9, 9] })).toBe(
      'frame event',
    );
    expect(litIn({ event: 2 }, undefined)).toBe('');
  });
});

describe('nextViolation', () => {
  it('goes from one to the next, and round', () => {
    const table = new StreamTable(uiMessageTarget(6), { hasFrames: false, internal: false });
    const stray = (id: string): AgentEvent => ({ type: 'text-delta', id, delta: '?' });
    const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
    for (const event of [start, stray('a'), { type: 'step-start', stepId: 's' } as const, stray('b')])
      table.feed(event);
    const first = nextViolation(table, -1);
    expect(first).toEqual({ column: 'event', index: 1 });
    const second = nextViolation(table, table.rowOf(first!)!);
    expect(second).toEqual({ column: 'event', index: 3 });
    expect(nextViolation(table, table.rowOf(second!)!)).toEqual(first);
  });
});
