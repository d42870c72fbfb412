import type { FoldedPart } from './row-filter.ts';
import type { StreamRow, StreamTable } from './stream-table.ts';

export type RowStatus = 'good' | 'loss' | 'bad' | 'none';

/** Returns whether a row violates a rule or has losses, with an explanation. */
export function getRowStatus(table: StreamTable, row: StreamRow): { status: RowStatus; text: string } {
  const violations = [
    ...(row.event === undefined ? [] : table.getViolations({ column: 'event', index: row.event })),
    ...(row.target === undefined ? [] : table.getViolations({ column: 'target', index: row.target })),
  ];
  if (violations.length > 0) {
    const text = violations.map(({ rule, sentence, fix }) => `${rule}: ${sentence} ${fix}`).join('\n');
    return { status: 'bad', text };
  }
  const losses = row.event === undefined ? [] : table.getLosses(row.event);
  if (losses.length > 0) {
    return { status: 'loss', text: losses.map(({ kind, what, why }) => `${what} ${kind}: ${why}`).join('\n') };
  }
  if (row.cause === undefined) return { status: 'none', text: 'No event came from this' };
  return { status: 'good', text: 'No protocol errors' };
}

/** Returns the most serious status of a folded part's rows. */
export function getPartStatus(table: StreamTable, { rows }: FoldedPart): { status: RowStatus; text: string } {
  const { violations, losses } = table;
  const first = getRowStatus(table, table.row(rows[0]!));
  // Parts can have thousands of rows, and most runs have nothing to find.
  if (violations.event.length + violations.target.length + losses.length === 0) return first;
  const statuses = rows.map((row) => getRowStatus(table, table.row(row)));
  return statuses.find(({ status }) => status === 'bad') ?? statuses.find(({ status }) => status === 'loss') ?? first;
}
