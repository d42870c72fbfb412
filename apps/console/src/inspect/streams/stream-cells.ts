import { isIn, type Cell, type Relatives, type StreamRow, type StreamTable } from './stream-table.ts';

const columns = ['frame', 'event', 'target'] as const;

/** The cell of a row that is nearest to a column: the same, or else what the row has. */
export function cellAt(row: StreamRow, column: Cell['column']): Cell | undefined {
  for (const one of [column, 'event', 'target', 'frame'] as const) {
    const index = row[one];
    if (index !== undefined) return { column: one, index };
  }
  return undefined;
}

/** The next cell to the side. Where the row shows none it is the one that the row comes from. */
export function cellAside(row: StreamRow, from: Cell['column'], by: 1 | -1): Cell | undefined {
  const through = { frame: row.frame ?? row.origin, event: row.event ?? row.cause, target: row.target };
  for (let at = columns.indexOf(from) + by; at >= 0 && at < columns.length; at += by) {
    const column = columns[at]!;
    const index = through[column];
    if (index !== undefined) return { column, index };
  }
  return undefined;
}

/** Which cells of a row are among the relatives, as in `frame target`. */
export function litIn(row: StreamRow, relatives: Relatives | undefined): string {
  if (!relatives) return '';
  const lit: Array<Cell['column']> = [];
  if (isIn(row.frame, relatives.frames)) lit.push('frame');
  if (isIn(row.event, relatives.events)) lit.push('event');
  if (isIn(row.target, relatives.targets)) lit.push('target');
  return lit.join(' ');
}

/** The first cell after a row that breaks a rule; from the end it begins again. */
export function nextViolation(table: StreamTable, after: number): Cell | undefined {
  const cells = (['event', 'target'] as const).flatMap((column) =>
    table.violatingItems(column).flatMap((index) => {
      const row = table.rowOf({ column, index });
      return row === undefined ? [] : { row, cell: { column, index } };
    }),
  );
  const sorted = cells.toSorted((a, b) => a.row - b.row);
  return (sorted.find(({ row }) => row > after) ?? sorted.at(0))?.cell;
}
