import { agUi } from '@intertie/ag-ui';
import type { AgentEvent } from '@intertie/core';
import { createItemClassifier } from '@intertie/core/internal';
import { expect, it } from 'vitest';
import { FilteredRows, noFilter, type RowFilter } from './row-filter.ts';
import { StreamTable } from './stream-table.ts';

const items = createItemClassifier([agUi.items]);
const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const delta = (id: string, text: string): AgentEvent => ({ type: 'text-delta', id, delta: text });
/** Two texts whose deltas alternate. */
const events: AgentEvent[] = [
  start,
  { type: 'text-start', id: 'a' },
  { type: 'text-start', id: 'b' },
  delta('a', 'One '),
  delta('b', 'Two '),
  delta('a', 'more'),
  { type: 'text-end', id: 'a' },
  { type: 'text-end', id: 'b' },
  { type: 'run-end', outcome: 'complete' },
];

function filterRows(filter: Partial<RowFilter>, count = events.length): { table: StreamTable; rows: FilteredRows } {
  const table = new StreamTable(agUi, { hasFrames: false, internal: false });
  const rows = new FilteredRows(table, { ...noFilter, ...filter }, { getFrame: () => undefined, items });
  for (const event of events.slice(0, count)) {
    table.feed(event);
    rows.update();
  }
  return { table, rows };
}

const listEvents = ({ table, rows }: ReturnType<typeof filterRows>): Array<string | undefined> =>
  Array.from({ length: rows.length }, (_, position) => {
    const { event } = table.row(rows.at(position));
    return event === undefined ? undefined : table.events[event]!.type;
  });

it('shows each part as one row, even if the deltas of two parts alternate', () => {
  const filtered = filterRows({});
  expect(listEvents(filtered).filter(Boolean)).toEqual(['run-start', 'text-start', 'text-start', 'run-end']);
  const parts = Array.from({ length: filtered.rows.length }, (_, position) => filtered.rows.getPart(position));
  expect(parts.filter(Boolean).map((part) => [part!.text, part!.events])).toEqual([
    ['One more', 4],
    ['Two ', 3],
  ]);
});

it('shows the target item that carries the text of a part', () => {
  const { table, rows } = filterRows({});
  const part = rows.getPart(rows.findPosition(table.findRow({ column: 'event', index: 1 })!));
  expect(table.targets[part!.row.target!]).toMatchObject({ type: 'TEXT_MESSAGE_CONTENT', delta: 'One ' });
});

it('finds the row of a part for each of its events', () => {
  const { table, rows } = filterRows({});
  const position = rows.findPosition(table.findRow({ column: 'event', index: 1 })!);
  for (const index of [3, 5, 6]) {
    expect(rows.findPosition(table.findRow({ column: 'event', index })!)).toBe(position);
  }
});

it('grows the text of an open part and replaces its description', () => {
  const { table, rows } = filterRows({}, 4);
  const position = rows.findPosition(table.findRow({ column: 'event', index: 1 })!);
  const before = rows.getPart(position);
  expect(before?.text).toBe('One ');
  expect(rows.getPart(position)).toBe(before);
  table.feed(delta('a', 'more'));
  rows.update();
  expect(rows.getPart(position)?.text).toBe('One more');
});

it('shows the end of a long text while it grows, and then its beginning', () => {
  const table = new StreamTable(agUi, { hasFrames: false, internal: false });
  const rows = new FilteredRows(table, noFilter, { getFrame: () => undefined, items });
  for (const event of [start, { type: 'text-start', id: 'a' } as const, delta('a', `first ${'x'.repeat(200)} last`)]) {
    table.feed(event);
  }
  rows.update();
  const position = rows.findPosition(table.findRow({ column: 'event', index: 1 })!);
  expect(rows.getPart(position)?.text).toMatch(/^….*last$/);
  table.feed({ type: 'text-end', id: 'a' });
  rows.update();
  expect(rows.getPart(position)?.text).toMatch(/^first .*…$/);
});

it('shows the events of an expanded part', () => {
  const filtered = filterRows({ expanded: new Set(['text a']) });
  expect(listEvents(filtered).filter(Boolean)).toEqual([
    'run-start',
    'text-start',
    'text-start',
    'text-delta',
    'text-delta',
    'text-end',
    'run-end',
  ]);
});

it('shows every event that matches a search, without folding', () => {
  const filtered = filterRows({ search: 'more' });
  expect(listEvents(filtered)).toEqual(['text-delta']);
});
