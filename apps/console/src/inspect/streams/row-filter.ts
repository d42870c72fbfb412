import type { ItemClassifier, ItemFamily } from '@intertie/core/internal';
import { getItemKind } from '../describe-item.ts';
import type { StreamTable } from './stream-table.ts';

export type RowFilter = {
  /** Families that are not shown. */
  hidden: ReadonlySet<ItemFamily>;
  deltas: boolean;
  agent: string | undefined;
  search: string;
};

export const noFilter: RowFilter = { hidden: new Set(), deltas: true, agent: undefined, search: '' };

const isFiltering = ({ hidden, deltas, agent, search }: RowFilter): boolean =>
  hidden.size > 0 || !deltas || agent !== undefined || search !== '';

/**
 * Indices of the rows that pass a filter, updated incrementally. An event passes with all its target items, so that the columns
 * stay aligned. A frame that caused no event is filtered by itself.
 */
export class FilteredRows {
  #table: StreamTable;
  #filter: RowFilter;
  #search: string;
  #getFrame: (index: number) => unknown;
  #items: ItemClassifier;
  #passed: number[] = [];
  #checked = 0;
  #event = { index: -1, passes: false };

  constructor(
    table: StreamTable,
    filter: RowFilter,
    { getFrame, items }: { getFrame: (index: number) => unknown; items: ItemClassifier },
  ) {
    this.#table = table;
    this.#filter = filter;
    this.#search = filter.search.toLowerCase();
    this.#getFrame = getFrame;
    this.#items = items;
  }

  /** Filters the new rows. Pending frames are shown only without a filter. */
  update(): void {
    for (; this.#checked < this.#table.settled; this.#checked++) {
      if (this.#passes(this.#checked)) this.#passed.push(this.#checked);
    }
  }

  get length(): number {
    return isFiltering(this.#filter) ? this.#passed.length : this.#table.length;
  }

  /** Returns the table index of the row at a position. */
  at(position: number): number {
    return isFiltering(this.#filter) ? this.#passed[position]! : position;
  }

  /** Returns the position of a table row, or of the next row that passes. */
  findPosition(row: number): number {
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
    const { agent } = this.#filter;
    const event = this.#table.events[index]!;
    if (this.#isHidden(event)) return false;
    if (agent !== undefined && this.#table.getAgent(index) !== agent) return false;
    if (this.#search === '') return true;
    const [first, last] = this.#table.getTargets(index);
    return (
      this.#matches(event) ||
      (frame !== undefined && this.#matches(this.#getFrame(frame))) ||
      this.#table.targets.slice(first, last + 1).some((item) => this.#matches(item))
    );
  }

  #framePasses(frame: number): boolean {
    if (this.#filter.agent !== undefined) return false;
    const item = this.#getFrame(frame);
    if (this.#isHidden(item)) return false;
    return this.#search === '' || this.#matches(item);
  }

  #isHidden(item: unknown): boolean {
    const { hidden, deltas } = this.#filter;
    if (hidden.size === 0 && deltas) return false;
    const kind = getItemKind(item);
    return hidden.has(this.#items.findFamily(kind) ?? 'data') || (!deltas && this.#items.isDelta(kind));
  }

  #matches(item: unknown): boolean {
    return JSON.stringify(item)?.toLowerCase().includes(this.#search) ?? false;
  }
}
