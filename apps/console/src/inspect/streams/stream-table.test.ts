import { readFileSync } from 'node:fs';
import { parseTape, type AgentEvent, type Protocol } from '@intertie/core';
import { agUi } from '@intertie/ag-ui';
import { canonical } from '@intertie/conformance';
import { createItemClassifier } from '@intertie/core/internal';
import { uiMessageStream } from '@intertie/ai-sdk';
import { describe, expect, it } from 'vitest';
import { FilteredRows, noFilter, type RowFilter } from './row-filter.ts';
import { isInRange, StreamTable, type StreamRow } from './stream-table.ts';

const corpus = (name: string): AgentEvent[] => {
  const path = new URL(`../../../../../packages/conformance/corpus/${name}.tape.jsonl`, import.meta.url);
  return parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);
};
const asked = corpus('swarm-asks');
const ui = uiMessageStream;
const view = { getFrame: () => undefined, items: createItemClassifier([canonical.items]) };

const createTable = (events: AgentEvent[], target: Protocol = ui, hasFrames = false): StreamTable => {
  const table = new StreamTable(target, { hasFrames, internal: false });
  for (const event of events) table.feed(event);
  return table;
};
const getRows = (table: StreamTable): StreamRow[] => Array.from({ length: table.length }, (_, i) => table.row(i));

const small: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'x', origin: 2 },
  { type: 'text-delta', id: 'x', delta: 'Hi', origin: 2 },
  { type: 'text-end', id: 'x', origin: 4 },
  { type: 'run-end', outcome: 'complete' },
];

describe.each([
  ['a UI message stream', ui],
  ['AG-UI', agUi as Protocol],
])('a table with %s', (_, target) => {
  const table = createTable(asked, target);
  table.end();

  it('shows every event and target item once, in order, items at or below their cause', () => {
    const rows = getRows(table);
    expect(rows.flatMap(({ event }) => event ?? [])).toEqual(asked.map((_event, index) => index));
    expect(rows.flatMap(({ target: item }) => item ?? [])).toEqual(table.targets.map((_item, index) => index));
    expect(
      rows.every(({ target: item, cause }) => item === undefined || isInRange(item, table.getTargets(cause!))),
    ).toBe(true);
  });

  it('has no violations for a recorded run', () => {
    expect(table.violations).toEqual({ event: [], target: [] });
  });

  it('has no violations for a run that continues a message', () => {
    const continued = createTable(corpus('swarm-goes-on'), target);
    continued.end();
    expect(continued.violations).toEqual({ event: [], target: [] });
    expect(continued.targets.length).toBeGreaterThan(10);
  });

  it('records losses with their event', () => {
    const internal: AgentEvent = { type: 'text-start', id: 'psst', internal: true, to: ['critic'] };
    const withheld = createTable([small.at(0)!, internal, { type: 'text-end', id: 'psst' }, small.at(4)!], target);
    expect(withheld.losses).toMatchObject([{ event: 1, loss: { kind: 'withheld', id: 'psst' } }]);
  });
});

describe('table rows', () => {
  it('puts a frame into the row of its first event, and a frame without events into its own row', () => {
    const table = createTable(small, ui, true);
    expect(getRows(table).map(({ frame, event }) => [frame, event])).toEqual([
      [undefined, 0],
      [0, undefined],
      [1, undefined],
      [2, 1],
      // The UI message stream starts a step before the text.
      [undefined, undefined],
      [undefined, 2],
      [3, undefined],
      [4, 3],
      [undefined, 4],
      [undefined, undefined],
    ]);
  });

  it('counts how often another process has continued the run', () => {
    const recovered: AgentEvent = { type: 'notice', level: 'info', code: 'recovered', message: '' };
    const other: AgentEvent = { ...recovered, code: 'other' };
    expect(createTable([...small.slice(0, 3), recovered, other, recovered]).recoveries).toBe(2);
    expect(createTable(small).recoveries).toBe(0);
  });

  it('lists pending frames last until their events arrive', () => {
    const table = createTable(small.slice(0, 3), ui, true);
    table.setFrameCount(5);
    expect(table.length - table.settled).toBe(2);
    expect(table.row(table.length - 1)).toEqual({ frame: 4, origin: 4 });
    table.feed(small.at(3)!);
    expect(table.length).toBe(table.settled);
    expect(getRows(table).flatMap(({ frame }) => frame ?? [])).toEqual([0, 1, 2, 3, 4]);
  });

  it('attributes merged delta frames to the merged delta', () => {
    const joined = new StreamTable(ui, { hasFrames: true, internal: false, isDeltaFrame: (index) => index !== 5 });
    const events: AgentEvent[] = [
      small.at(0)!,
      { type: 'text-start', id: 'x', origin: 0 },
      { type: 'text-delta', id: 'x', delta: 'Hello', origin: 1 },
      { type: 'text-delta', id: 'x', delta: '.', origin: 4 },
      { type: 'text-end', id: 'x', origin: 7 },
    ];
    for (const event of events) joined.feed(event);
    expect(joined.getRelated({ column: 'event', index: 2 }).frames).toEqual([1, 3]);
    expect(joined.getRelated({ column: 'frame', index: 3 }).events).toEqual([2, 2]);
    // A frame that is not a delta ends the merged ones; later frames belong to no event.
    expect(joined.getRelated({ column: 'event', index: 3 }).frames).toEqual([4, 4]);
    expect(joined.getRelated({ column: 'frame', index: 6 }).events).toEqual([0, -1]);
  });

  it('finds the row of each cell', () => {
    const table = createTable(small.slice(0, 4), ui, true);
    table.setFrameCount(7);
    const cells = getRows(table).flatMap((row, position) =>
      (['frame', 'event', 'target'] as const).map((column) => ({ column, index: row[column], position })),
    );
    for (const { column, index, position } of cells) {
      expect(index === undefined ? position : table.findRow({ column, index })).toBe(position);
    }
  });

  it('has no frames if the server records none', () => {
    expect(getRows(createTable(small)).some(({ frame }) => frame !== undefined)).toBe(false);
  });
});

describe('getRelated', () => {
  const table = createTable(small, ui, true);

  it('returns the events of a frame and their target items', () => {
    const { events, targets } = table.getRelated({ column: 'frame', index: 2 });
    expect(events).toEqual([1, 2]);
    expect(table.targets.slice(targets[0], targets[1] + 1)).toMatchObject([
      { type: 'start-step' },
      { type: 'text-start' },
      { type: 'text-delta' },
    ]);
    expect(table.getRelated({ column: 'frame', index: 0 })).toEqual({
      frames: [0, 0],
      events: [0, -1],
      targets: [0, -1],
    });
  });

  it('returns the event and the frame of a target item, without the other items of the event', () => {
    const index = table.targets.findIndex((item) => (item as { type: string }).type === 'text-start');
    expect(table.getRelated({ column: 'target', index })).toEqual({
      frames: [2, 2],
      events: [1, 1],
      targets: [index, index],
    });
  });
});

describe('violations', () => {
  it('names the rule and the fix at the violating event', () => {
    const table = createTable([small.at(0)!, { type: 'text-delta', id: 'nobody', delta: '?' }, small.at(4)!]);
    const [violation] = table.getViolations({ column: 'event', index: 1 });
    expect(violation).toMatchObject({ rule: 'C3-open', fix: expect.any(String), sentence: expect.any(String) });
    expect(table.losses).toMatchObject([{ event: 1, loss: { kind: 'repaired', what: 'text-delta' } }]);
  });

  it('reports a missing end at the last event, and only after the run has ended', () => {
    const table = createTable(small.slice(0, 3));
    expect(table.violations.event).toEqual([]);
    table.end();
    table.end();
    expect(table.getViolations({ column: 'event', index: 2 }).map(({ rule }) => rule)).toContain('C1-end');
    expect(table.violations.event.length).toBe(table.getViolations({ column: 'event', index: 2 }).length);
  });
});

describe('FilteredRows', () => {
  const table = createTable(asked);
  const rows = (filter: Partial<RowFilter>): StreamRow[] => {
    const filtered = new FilteredRows(table, { ...noFilter, isFolded: false, ...filter }, view);
    filtered.update();
    return Array.from({ length: filtered.length }, (_, i) => table.row(filtered.at(i)));
  };
  const getTypes = (some: StreamRow[]): Set<string> =>
    new Set(some.flatMap(({ event }) => (event === undefined ? [] : table.events.at(event)!.type)));

  it('passes all rows without a filter', () => {
    expect(rows({})).toHaveLength(table.length);
  });

  it('filters by family', () => {
    expect([...getTypes(rows({ hidden: new Set(['reasoning', 'text'] as const) }))].join()).not.toMatch(
      /text|reasoning/,
    );
  });

  it('filters by agent, including deltas', () => {
    const name = table.agents.names.at(0);
    const mine = rows({ agent: name });
    expect(getTypes(mine)).toContain('reasoning-delta');
    expect(mine.every(({ cause }) => table.getAgent(cause!) === name)).toBe(true);
  });

  it('searches all columns and keeps all rows of a matching event', () => {
    const found = rows({ search: 'START-STEP' });
    expect(found.length).toBeGreaterThan(0);
    for (const { cause } of found) {
      const [first, last] = table.getTargets(cause!);
      expect(found.filter((row) => row.cause === cause)).toHaveLength(Math.max(1, last - first + 1));
    }
  });

  it('filters new rows incrementally and finds the position of a row', () => {
    const growing = createTable(asked.slice(0, 50));
    const filtered = new FilteredRows(growing, noFilter, view);
    filtered.update();
    const before = filtered.length;
    for (const event of asked.slice(50)) growing.feed(event);
    filtered.update();
    expect(filtered.length).toBeGreaterThan(before);
    expect(Array.from({ length: filtered.length }, (_, i) => filtered.findPosition(filtered.at(i)))).toEqual(
      Array.from({ length: filtered.length }, (_, i) => i),
    );
  });
});
