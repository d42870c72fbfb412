import type { JsonObject } from '@intertie/core';
import type { OutputItem } from '../shared/response-event.ts';

/** Writes an event. The encoder adds the sequence number. */
export type Write = (type: string, fields: JsonObject) => void;

/** Item of the response that is being written, and its place in it. */
export type ItemEntry = {
  readonly index: number;
  item: OutputItem;
  readonly stepId: string | undefined;
  isOpen: boolean;
  /** Whether the item is no part of the answer: its step was discarded, or its call has to be approved first. */
  isWithdrawn: boolean;
};

/** Items of one response in the order of their output indexes. */
export class OutputItems {
  #entries: ItemEntry[] = [];
  #ids = new Set<string>();
  #write: Write;

  constructor(write: Write) {
    this.#write = write;
  }

  /** The items that belong to the answer. */
  get output(): OutputItem[] {
    return this.#entries.filter(({ isWithdrawn }) => !isWithdrawn).map(({ item }) => item);
  }

  get lastMessage(): ItemEntry | undefined {
    return this.#entries.findLast(({ item, isWithdrawn }) => item.type === 'message' && !isWithdrawn);
  }

  /** Adds an item. An id that is already used gets a suffix, since clients reject repeated ids. */
  add(item: OutputItem, stepId?: string): ItemEntry {
    const index = this.#entries.length;
    const id = this.#ids.has(item.id) ? `${item.id}_${index}` : item.id;
    this.#ids.add(id);
    const entry: ItemEntry = { index, item: { ...item, id }, stepId, isOpen: true, isWithdrawn: false };
    this.#entries.push(entry);
    this.#write('response.output_item.added', { output_index: index, item: { ...entry.item } });
    return entry;
  }

  /** Ends an item with its final fields. */
  close(entry: ItemEntry, fields: JsonObject = {}): void {
    if (!entry.isOpen) return;
    entry.isOpen = false;
    entry.item = { ...entry.item, ...fields };
    this.#write('response.output_item.done', { output_index: entry.index, item: entry.item });
  }

  /** Writes an event of one item. */
  writeOf(entry: ItemEntry, type: string, fields: JsonObject = {}): void {
    this.#write(type, { item_id: entry.item.id, output_index: entry.index, ...fields });
  }

  ofStep(stepId: string): ItemEntry[] {
    return this.#entries.filter((entry) => entry.stepId === stepId);
  }

  find(isSearched: (entry: ItemEntry) => boolean): ItemEntry[] {
    return this.#entries.filter(isSearched);
  }
}
