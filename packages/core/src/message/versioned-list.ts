/**
 * One version of a list. The newest version holds the items; an older one holds what was different and points to the
 * next newer one, never the other way, so that versions nobody keeps are collected.
 */
export interface ListVersion<Item> {
  /** The items, of the newest version only. */
  items: Item[] | undefined;
  newer: ListVersion<Item> | undefined;
  /** How to get here from the newer version: cut to this length, then put these items back, the last one first. */
  length: number;
  undo: Array<readonly [index: number, item: Item]>;
}

/**
 * A list whose versions stay readable. Taking a version, setting an item and adding one are O(1), also if a version is
 * taken after every change; reading the newest version is a copy, reading an older one costs its distance as well.
 */
export class VersionedList<Item> {
  #newest: ListVersion<Item>;
  /** The version taken last; changes since then are noted there. */
  #taken: ListVersion<Item> | undefined;

  constructor(items: Item[] = []) {
    this.#newest = newVersion(items);
  }

  get length(): number {
    return this.#newest.items!.length;
  }

  at(index: number): Item | undefined {
    return this.#newest.items![index];
  }

  push(item: Item): void {
    this.#advance();
    this.#newest.items!.push(item);
  }

  set(index: number, item: Item): void {
    this.#advance();
    const items = this.#newest.items!;
    this.#taken?.undo.push([index, items[index]!]);
    items[index] = item;
  }

  /** Replaces everything. Versions taken before keep the items they had, and end here. */
  reset(items: Item[]): void {
    this.#newest = newVersion(items);
    this.#taken = undefined;
  }

  /** The list as it is now. */
  take(): ListVersion<Item> {
    this.#taken = this.#newest;
    return this.#newest;
  }

  #advance(): void {
    const old = this.#newest;
    if (this.#taken !== old) return;
    this.#newest = newVersion(old.items!);
    old.length = old.items!.length;
    old.items = undefined;
    old.newer = this.#newest;
  }
}

function newVersion<Item>(items: Item[]): ListVersion<Item> {
  return { items, newer: undefined, length: 0, undo: [] };
}

/** The items of a version, as a list of the caller's own. */
export function itemsOf<Item>(taken: ListVersion<Item>): Item[] {
  const path: Array<ListVersion<Item>> = [];
  let at = taken;
  for (; at.items === undefined; at = at.newer!) path.push(at);
  const items = [...at.items];
  for (let step = path.pop(); step !== undefined; step = path.pop()) {
    items.length = step.length;
    for (let index = step.undo.length - 1; index >= 0; index--) {
      const [place, item] = step.undo[index]!;
      if (place < step.length) items[place] = item;
    }
  }
  return items;
}
