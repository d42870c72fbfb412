import type { Light } from './stream-row.tsx';
import type { StreamRow, StreamTable } from './stream-table.ts';

/** What a row's light says: a rule is broken, something did not get through, or all is well. */
export function lightOf(table: StreamTable, row: StreamRow): { light: Light; text: string } {
  const violations = [
    ...(row.event === undefined ? [] : table.violationsOf({ column: 'event', index: row.event })),
    ...(row.target === undefined ? [] : table.violationsOf({ column: 'target', index: row.target })),
  ];
  if (violations.length > 0) {
    const text = violations.map(({ rule, sentence, fix }) => `${rule}: ${sentence} ${fix}`).join('\n');
    return { light: 'bad', text };
  }
  const losses = row.event === undefined ? [] : table.lossesOf(row.event);
  if (losses.length > 0) {
    return { light: 'loss', text: losses.map(({ kind, what, why }) => `${what} ${kind}: ${why}`).join('\n') };
  }
  if (row.cause === undefined) return { light: 'none', text: 'No event came of it.' };
  return { light: 'good', text: 'Keeps the rules' };
}
