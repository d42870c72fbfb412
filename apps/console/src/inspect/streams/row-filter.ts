import type { AgentEvent } from '@intertie/core';
import type { ItemClassifier, ItemFamily } from '@intertie/core/internal';
import { describeItem } from '../describe-item.ts';
import type { StreamRow, StreamTable } from './stream-table.ts';

export type RowFilter = {
  /** Families that are not shown. */
  hidden: ReadonlySet<ItemFamily>;
  /** Whether each text, reasoning and tool input is one row. Search shows single events in any case. */
  isFolded: boolean;
  /** Parts that are shown event by event all the same, by their key. */
  expanded: ReadonlySet<string>;
  agent: string | undefined;
  search: string;
};

export const noFilter: RowFilter = {
  hidden: new Set(),
  isFolded: true,
  expanded: new Set(),
  agent: undefined,
  search: '',
};

/** Part whose events are folded into one row, or could be. */
export type FoldedPart = {
  key: string;
  isExpanded: boolean;
  /** Text so far; the end of it while the part is open. */
  text: string;
  /** Number of items in each column. */
  frames: number;
  events: number;
  targets: number;
  /** Table indices of the part's rows. Only appended to. */
  rows: readonly number[];
  /** The first row, with the target item that carries the text: others can come before it. */
  row: StreamRow;
};

/** Events of a part, with `view` as the cached result for rendering. */
type Fold = Omit<FoldedPart, 'rows'> & {
  rows: number[];
  hasTarget: boolean;
  isOpen: boolean;
  view: FoldedPart | undefined;
};

/** Longest text that a cell shows. */
const maxText = 160;

/**
 * Positions of the rows that pass a filter, updated incrementally. An event passes with all its target items, so that the columns
 * stay aligned. A frame that caused no event is filtered by itself. The rows of a folded part share the position of its first row.
 */
export class FilteredRows {
  #table: StreamTable;
  #filter: RowFilter;
  #search: string;
  #getFrame: (index: number) => unknown;
  #items: ItemClassifier;
  /** Table index of the row at each position. */
  #shown: number[] = [];
  /** Position of each row of the table, or of the next one that is shown. */
  #positions: number[] = [];
  #folds = new Map<string, Fold>();
  #foldAt = new Map<number, Fold>();
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

  /** Filters and folds the new rows. */
  update(): void {
    for (let row = this.#positions.length; row < this.#table.settled; row++) this.#place(row);
  }

  get length(): number {
    return this.#shown.length + this.#pendingFrames;
  }

  /** Returns the table index of the row at a position. */
  at(position: number): number {
    return this.#shown[position] ?? this.#table.settled + position - this.#shown.length;
  }

  /** Returns the position of a table row, or of the next row that is shown. */
  findPosition(row: number): number {
    return this.#positions[row] ?? this.#shown.length + Math.min(row - this.#table.settled, this.#pendingFrames);
  }

  /** Returns the part that begins at a position. */
  getPart(position: number): FoldedPart | undefined {
    const fold = this.#foldAt.get(position);
    if (!fold) return undefined;
    const { key, isExpanded, frames, events, targets, rows, row, text, isOpen } = fold;
    const isCut = text.length > maxText;
    const shown = !isCut ? text : isOpen ? `…${text.slice(-maxText)}` : `${text.slice(0, maxText)}…`;
    return (fold.view ??= { key, isExpanded, frames, events, targets, rows, row, text: shown });
  }

  /** Pending frames are not filtered, so they are shown only without a filter. */
  get #pendingFrames(): number {
    const { hidden, agent, search } = this.#filter;
    const isFiltering = hidden.size > 0 || agent !== undefined || search !== '';
    return isFiltering ? 0 : this.#table.length - this.#table.settled;
  }

  #place(row: number): void {
    const { cause } = this.#table.row(row);
    const isShown = this.#passes(row);
    const event = cause === undefined ? undefined : this.#table.events[cause];
    const key = isShown && this.#search === '' && this.#filter.isFolded && event ? getPartKey(event) : undefined;
    const fold = key === undefined ? undefined : this.#folds.get(key);
    if (fold) this.#addToFold(fold, row);
    const isHidden = fold !== undefined && !fold.isExpanded;
    const foldedAt = isHidden ? this.#positions[fold.rows[0]!]! : this.#shown.length;
    this.#positions.push(foldedAt);
    if (!isShown || isHidden) return;
    this.#shown.push(row);
    if (key !== undefined && !fold) this.#openFold(key, row, foldedAt);
  }

  #openFold(key: string, row: number, position: number): void {
    const isExpanded = this.#filter.expanded.has(key);
    const counts = { frames: 0, events: 0, targets: 0 };
    const state = { rows: [], row: this.#table.row(row), text: '', hasTarget: false, isOpen: true, view: undefined };
    const fold: Fold = { key, isExpanded, ...counts, ...state };
    this.#folds.set(key, fold);
    this.#foldAt.set(position, fold);
    this.#addToFold(fold, row);
  }

  #addToFold(fold: Fold, row: number): void {
    const { frame, event, target } = this.#table.row(row);
    fold.rows.push(row);
    fold.view = undefined;
    if (frame !== undefined) fold.frames++;
    if (target !== undefined) this.#addTarget(fold, target);
    if (event === undefined) return;
    fold.events++;
    const item = this.#table.events[event]!;
    if ('delta' in item && typeof item.delta === 'string') fold.text += item.delta;
    if (item.type.endsWith('-end') || item.type === 'tool-call') fold.isOpen = false;
  }

  #addTarget(fold: Fold, target: number): void {
    fold.targets++;
    if (fold.hasTarget || !this.#items.isDelta(describeItem(this.#table.targets[target], this.#items).type)) return;
    fold.hasTarget = true;
    fold.row = { ...fold.row, target };
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
    const { hidden } = this.#filter;
    return hidden.size > 0 && hidden.has(describeItem(item, this.#items).family);
  }

  #matches(item: unknown): boolean {
    return JSON.stringify(item)?.toLowerCase().includes(this.#search) ?? false;
  }
}

/** Returns the key of the part that an event begins, extends or ends. */
function getPartKey(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
      return `text ${event.id}`;
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return `reasoning ${event.id}`;
    case 'tool-input-start':
    case 'tool-input-delta':
      return `input ${event.toolCallId}`;
    default:
      return undefined;
  }
}
