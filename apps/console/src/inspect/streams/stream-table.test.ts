import { readFileSync } from 'node:fs';
import { parseTape, type AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { agUiTarget } from './ag-ui-target.ts';
import { FilteredRows, everything, type RowFilter } from './row-filter.ts';
import { isIn, StreamTable, type StreamRow } from './stream-table.ts';
import type { Target } from './target.ts';
import { uiMessageTarget } from './ui-message-target.ts';

const corpus = (name: string): AgentEvent[] => {
  const path = new URL(`../../../../../packages/conformance/corpus/${name}.tape.jsonl`, import.meta.url);
  return parseTape(readFileSync(path, 'utf8')).items.map(({ item }) => item as unknown as AgentEvent);
};
const asked = corpus('swarm-asks');
const ui = uiMessageTarget(6);

const tableOf = (events: AgentEvent[], target: Target = ui, hasFrames = false): StreamTable => {
  const table = new StreamTable(target, { hasFrames, internal: false });
  for (const event of events) table.feed(event);
  return table;
};
const rowsOf = (table: StreamTable): StreamRow[] => Array.from({ length: table.length }, (_, i) => table.row(i));

const small: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'x', origin: 2 },
  { type: 'text-delta', id: 'x', delta: 'Hi', origin: 2 },
  { type: 'text-end', id: 'x', origin: 4 },
  { type: 'run-end', outcome: 'complete' },
];

describe.each([
  ['a UI message stream', ui],
  ['AG-UI', agUiTarget],
])('the table with %s', (_, target) => {
  const table = tableOf(asked, target);
  table.end();

  it('shows every event and every item once, in order, and each item beside its cause or below it', () => {
    const rows = rowsOf(table);
    expect(rows.flatMap(({ event }) => event ?? [])).toEqual(asked.map((_event, index) => index));
    expect(rows.flatMap(({ target: item }) => item ?? [])).toEqual(table.targets.map((_item, index) => index));
    expect(rows.every(({ target: item, cause }) => item === undefined || isIn(item, table.targetsOf(cause!)))).toBe(
      true,
    );
  });

  it('breaks no rule', () => {
    expect(table.violations).toEqual({ event: [], target: [] });
  });

  it('breaks none either where a run goes on with a message', () => {
    const goesOn = tableOf(corpus('swarm-goes-on'), target);
    goesOn.end();
    expect(goesOn.violations).toEqual({ event: [], target: [] });
    expect(goesOn.targets.length).toBeGreaterThan(10);
  });

  it('enters in the ledger what did not get through, with the event', () => {
    const said: AgentEvent = { type: 'text-start', id: 'psst', internal: true, to: ['critic'] };
    const withheld = tableOf([small.at(0)!, said, { type: 'text-end', id: 'psst' }, small.at(4)!], target);
    expect(withheld.losses).toMatchObject([{ event: 1, loss: { kind: 'withheld', id: 'psst' } }]);
  });
});

describe('the rows', () => {
  it('put a frame beside the first event that it caused, and one without an effect in a row of its own', () => {
    const table = tableOf(small, ui, true);
    expect(rowsOf(table).map(({ frame, event }) => [frame, event])).toEqual([
      [undefined, 0],
      [0, undefined],
      [1, undefined],
      [2, 1],
      // The UI message stream begins a step before the text.
      [undefined, undefined],
      [undefined, 2],
      [3, undefined],
      [4, 3],
      [undefined, 4],
      [undefined, undefined],
    ]);
  });

  it('leave frames that have caused nothing yet for the end, and take them in when they do', () => {
    const table = tableOf(small.slice(0, 3), ui, true);
    table.knowFrames(5);
    expect(table.length - table.settled).toBe(2);
    expect(table.row(table.length - 1)).toEqual({ frame: 4, origin: 4 });
    table.feed(small.at(3)!);
    expect(table.length).toBe(table.settled);
    expect(rowsOf(table).flatMap(({ frame }) => frame ?? [])).toEqual([0, 1, 2, 3, 4]);
  });

  it('give the frames that were joined to the delta that they went into', () => {
    const joined = new StreamTable(ui, { hasFrames: true, internal: false, isDeltaFrame: (index) => index !== 5 });
    const events: AgentEvent[] = [
      small.at(0)!,
      { type: 'text-start', id: 'x', origin: 0 },
      { type: 'text-delta', id: 'x', delta: 'Hello', origin: 1 },
      { type: 'text-delta', id: 'x', delta: '.', origin: 4 },
      { type: 'text-end', id: 'x', origin: 7 },
    ];
    for (const event of events) joined.feed(event);
    expect(joined.relativesOf({ column: 'event', index: 2 }).frames).toEqual([1, 3]);
    expect(joined.relativesOf({ column: 'frame', index: 3 }).events).toEqual([2, 2]);
    // A frame that is no delta ends it, and what follows is nobody's.
    expect(joined.relativesOf({ column: 'event', index: 3 }).frames).toEqual([4, 4]);
    expect(joined.relativesOf({ column: 'frame', index: 6 }).events).toEqual([0, -1]);
  });

  it('are found again by what they show', () => {
    const table = tableOf(small.slice(0, 4), ui, true);
    table.knowFrames(7);
    const cells = rowsOf(table).flatMap((row, place) =>
      (['frame', 'event', 'target'] as const).map((column) => ({ column, index: row[column], place })),
    );
    for (const { column, index, place } of cells) {
      expect(index === undefined ? place : table.rowOf({ column, index })).toBe(place);
    }
  });

  it('know no frames where a server keeps none', () => {
    expect(rowsOf(tableOf(small)).some(({ frame }) => frame !== undefined)).toBe(false);
  });
});

describe('relatives', () => {
  const table = tableOf(small, ui, true);

  it('of a frame are its events and all that they were written as', () => {
    const { events, targets } = table.relativesOf({ column: 'frame', index: 2 });
    expect(events).toEqual([1, 2]);
    expect(table.targets.slice(targets[0], targets[1] + 1)).toMatchObject([
      { type: 'start-step' },
      { type: 'text-start' },
      { type: 'text-delta' },
    ]);
    expect(table.relativesOf({ column: 'frame', index: 0 })).toEqual({
      frames: [0, 0],
      events: [0, -1],
      targets: [0, -1],
    });
  });

  it('of an item are its event and that event’s frame, and not its sisters', () => {
    const index = table.targets.findIndex((item) => (item as { type: string }).type === 'text-start');
    expect(table.relativesOf({ column: 'target', index })).toEqual({
      frames: [2, 2],
      events: [1, 1],
      targets: [index, index],
    });
  });
});

describe('the light of a row', () => {
  it('names the rule, what it means and the fix, at the event that breaks it', () => {
    const table = tableOf([small.at(0)!, { type: 'text-delta', id: 'nobody', delta: '?' }, small.at(4)!]);
    const [violation] = table.violationsOf({ column: 'event', index: 1 });
    expect(violation).toMatchObject({ rule: 'C3-open', fix: expect.any(String), sentence: expect.any(String) });
    expect(table.losses).toMatchObject([{ event: 1, loss: { kind: 'repaired', what: 'text-delta' } }]);
  });

  it('shows at the last event what is missing at the end, and only when the run is over', () => {
    const table = tableOf(small.slice(0, 3));
    expect(table.violations.event).toEqual([]);
    table.end();
    table.end();
    expect(table.violationsOf({ column: 'event', index: 2 }).map(({ rule }) => rule)).toContain('C1-end');
    expect(table.violations.event.length).toBe(table.violationsOf({ column: 'event', index: 2 }).length);
  });
});

describe('a filter', () => {
  const table = tableOf(asked);
  const rows = (filter: Partial<RowFilter>): StreamRow[] => {
    const filtered = new FilteredRows(table, { ...everything, ...filter }, () => undefined);
    filtered.catchUp();
    return Array.from({ length: filtered.length }, (_, i) => table.row(filtered.at(i)));
  };
  const typesIn = (some: StreamRow[]): Set<string> =>
    new Set(some.flatMap(({ event }) => (event === undefined ? [] : table.events.at(event)!.type)));

  it('lets everything through unless told otherwise', () => {
    expect(rows({})).toHaveLength(table.length);
  });

  it('goes by family, and can do without deltas', () => {
    expect([...typesIn(rows({ deltas: false }))].some((type) => type.endsWith('delta'))).toBe(false);
    expect([...typesIn(rows({ hidden: new Set(['reasoning', 'text'] as const) }))].join()).not.toMatch(
      /text|reasoning/,
    );
  });

  it('goes by agent, deltas included', () => {
    const name = table.agents.names.at(0);
    const mine = rows({ agent: name });
    expect(typesIn(mine)).toContain('reasoning-delta');
    expect(mine.every(({ cause }) => table.agentOf(cause!) === name)).toBe(true);
  });

  it('finds what either side says, and keeps the row whole', () => {
    const found = rows({ search: 'START-STEP' });
    expect(found.length).toBeGreaterThan(0);
    for (const { cause } of found) {
      const [first, last] = table.targetsOf(cause!);
      expect(found.filter((row) => row.cause === cause)).toHaveLength(Math.max(1, last - first + 1));
    }
  });

  it('goes on where it was, and says where a row is', () => {
    const growing = tableOf(asked.slice(0, 50));
    const filtered = new FilteredRows(growing, { ...everything, deltas: false }, () => undefined);
    filtered.catchUp();
    const before = filtered.length;
    for (const event of asked.slice(50)) growing.feed(event);
    filtered.catchUp();
    expect(filtered.length).toBeGreaterThan(before);
    expect(Array.from({ length: filtered.length }, (_, i) => filtered.positionOf(filtered.at(i)))).toEqual(
      Array.from({ length: filtered.length }, (_, i) => i),
    );
  });
});
