import { isInRange, type Cell, type RelatedItems, type StreamRow, type StreamTable } from './stream-table.ts';

const columns = ['frame', 'event', 'target'] as const;

/** Finds the cell of a row in a column, or else another cell of the row. */
export function findCell(row: StreamRow, column: Cell['column']): Cell | undefined {
  for (const one of [column, 'event', 'target', 'frame'] as const) {
    const index = row[one];
    if (index !== undefined) return { column: one, index };
  }
  return undefined;
}

/** Finds the next cell to the left or right. If the row shows none there, returns the item that caused the row. */
export function findAdjacentCell(row: StreamRow, from: Cell['column'], by: 1 | -1): Cell | undefined {
  const cells = { frame: row.frame ?? row.origin, event: row.event ?? row.cause, target: row.target };
  for (let at = columns.indexOf(from) + by; at >= 0 && at < columns.length; at += by) {
    const column = columns[at]!;
    const index = cells[column];
    if (index !== undefined) return { column, index };
  }
  return undefined;
}

/** Returns the columns of a row whose cells are among the related items, for example `frame target`. */
export function findHighlighted(row: StreamRow, related: RelatedItems | undefined): string {
  if (!related) return '';
  const columnsFound: Array<Cell['column']> = [];
  if (isInRange(row.frame, related.frames)) columnsFound.push('frame');
  if (isInRange(row.event, related.events)) columnsFound.push('event');
  if (isInRange(row.target, related.targets)) columnsFound.push('target');
  return columnsFound.join(' ');
}

/** Finds the first violation after a row, or else the first of all. */
export function findNextViolation(table: StreamTable, after: number): Cell | undefined {
  const cells = (['event', 'target'] as const).flatMap((column) =>
    table.getViolatingItems(column).flatMap((index) => {
      const row = table.findRow({ column, index });
      return row === undefined ? [] : { row, cell: { column, index } };
    }),
  );
  const sorted = cells.toSorted((a, b) => a.row - b.row);
  return (sorted.find(({ row }) => row > after) ?? sorted.at(0))?.cell;
}
