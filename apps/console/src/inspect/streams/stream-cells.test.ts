import type { AgentEvent } from '@intertie/core';
import { uiMessageStream } from '@intertie/ai-sdk';
import { describe, expect, it } from 'vitest';
import { findAdjacentCell, findCell, findHighlighted, findNextViolation } from './stream-cells.ts';
import { StreamTable } from './stream-table.ts';

describe('stream cells', () => {
  const row = { target: 4, cause: 2, origin: 1 };

  it('finds a cell in the given column, or else in another one', () => {
    expect(findCell(row, 'event')).toEqual({ column: 'target', index: 4 });
    expect(findCell({ frame: 1, event: 2 }, 'frame')).toEqual({ column: 'frame', index: 1 });
    expect(findCell({}, 'event')).toBeUndefined();
  });

  it('moves sideways to the cell that caused the row', () => {
    expect(findAdjacentCell(row, 'target', -1)).toEqual({ column: 'event', index: 2 });
    expect(findAdjacentCell(row, 'event', -1)).toEqual({ column: 'frame', index: 1 });
    expect(findAdjacentCell({ event: 0, cause: 0, target: 3 }, 'event', -1)).toBeUndefined();
  });

  it('highlights the related cells of a row', () => {
    const related = { frames: [1, 1], events: [2, 4], targets: [9, 9] } as const;
    expect(findHighlighted({ frame: 1, event: 2, target: 3 }, related)).toBe('frame event');
    expect(findHighlighted({ event: 2 }, undefined)).toBe('');
  });
});

describe('findNextViolation', () => {
  it('moves to the next violation and wraps around', () => {
    const table = new StreamTable(uiMessageStream, { hasFrames: false, internal: false });
    const stray = (id: string): AgentEvent => ({ type: 'text-delta', id, delta: '?' });
    const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
    for (const event of [start, stray('a'), { type: 'step-start', stepId: 's' } as const, stray('b')])
      table.feed(event);
    const first = findNextViolation(table, -1);
    expect(first).toEqual({ column: 'event', index: 1 });
    const second = findNextViolation(table, table.findRow(first!)!);
    expect(second).toEqual({ column: 'event', index: 3 });
    expect(findNextViolation(table, table.findRow(second!)!)).toEqual(first);
  });
});
