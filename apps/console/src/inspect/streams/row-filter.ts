import { describeItem } from '../describe-item.ts';
import { familyOf, isDelta, type Family } from '../event-family.ts';
import type { StreamTable } from './stream-table.ts';

export type RowFilter = {
  /** The families that are left out. */
  hidden: ReadonlySet<Family>;
  deltas: boolean;
  agent: string | undefined;
  search: string;
};

export const everything: RowFilter = { hidden: new Set(), deltas: true, agent: undefined, search: '' };

const isFiltering = ({ hidden, deltas, agent, search }: RowFilter): boolean =>
  hidden.size > 0 || !deltas || agent !== undefined || search !== '';

/**
 * The rows of a table that a filter lets through, by their index, as they come. What is let through is an event with all
 * that it was written as, so that the columns stay aligned; a frame that caused nothing stands for itself.
 */
export class FilteredRows {
  #table: StreamTable;
  #filter: RowFilter;
  #search: string;
  #frameAt: (index: number) => unknown;
  #passed: number[] = [];
  #seen = 0;
  #event = { index: -1, passes: false };

  constructor(table: StreamTable, filter: RowFilter, frameAt: (index: number) => unknown) {
    this.#table = table;
    this.#filter = filter;
    this.#search = filter.search.toLowerCase();
    this.#frameAt = frameAt;
  }

  /** Looks at the rows that are new. Frames that wait are shown as long as nothing is left out. */
  catchUp(): void {
    for (; this.#seen < this.#table.settled; this.#seen++) {
      if (this.#passes(this.#seen)) this.#passed.push(this.#seen);
    }
  }

  get length(): number {
    return isFiltering(this.#filter) ? this.#passed.length : this.#table.length;
  }

  /** The row's index in the table. */
  at(position: number): number {
    return isFiltering(this.#filter) ? this.#passed[position]! : position;
  }

  /** Where a row of the table is, or where the one after it would be. */
  positionOf(row: number): number {
    if (!isFiltering(this.#filter)) return row;
    let low = 0;
    let high = this.#passed.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#passed[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #passes(index: number): boolean {
    const { frame, cause } = this.#table.row(index);
    if (cause === undefined) return frame !== undefined && this.#framePasses(frame);
    if (this.#event.index !== cause) this.#event = { index: cause, passes: this.#eventPasses(cause, frame) };
    return this.#event.passes;
  }

  #eventPasses(index: number, frame: number | undefined): boolean {
    const { hidden, deltas, agent } = this.#filter;
    const event = this.#table.events[index]!;
    if (hidden.has(familyOf(event.type)) || (!deltas && isDelta(event.type))) return false;
    if (agent !== undefined && this.#table.agentOf(index) !== agent) return false;
    if (this.#search === '') return true;
    const [first, last] = this.#table.targetsOf(index);
    return (
      this.#finds(event) ||
      (frame !== undefined && this.#finds(this.#frameAt(frame))) ||
      this.#table.targets.slice(first, last + 1).some((item) => this.#finds(item))
    );
  }

  #framePasses(frame: number): boolean {
    const { hidden, deltas, agent } = this.#filter;
    if (agent !== undefined) return false;
    const item = this.#frameAt(frame);
    const { type, family } = describeItem(item);
    if (hidden.has(family) || (!deltas && isDelta(type))) return false;
    return this.#search === '' || this.#finds(item);
  }

  #finds(item: unknown): boolean {
    return JSON.stringify(item)?.toLowerCase().includes(this.#search) ?? false;
  }
}
