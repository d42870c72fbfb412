/**
 * One version of a list. The newest version holds the items. An older one holds only the differences and points to the next
 * newer one, never the reverse, so that unreferenced versions are garbage-collected.
 */
export interface ListVersion<Item> {
  /** Present only in the newest version. */
  items: Item[] | undefined;
  newer: ListVersion<Item> | undefined;
  /** Derives this version from the newer one: truncate to this length, then restore these items, last one first. */
  length: number;
  undo: Array<readonly [index: number, item: Item]>;
}

/**
 * List whose versions stay readable. `snapshot`, `set` and `push` are O(1), even with a snapshot after every change. Reading the
 * newest version copies it; reading an older one also costs the number of changes since.
 */
export class VersionedList<Item> {
  #newest: ListVersion<Item>;
  /** Latest version that a caller holds; changes since then are recorded in it. */
  #lastSnapshot: ListVersion<Item> | undefined;

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
    this.#lastSnapshot?.undo.push([index, items[index]!]);
    items[index] = item;
  }

  /** Replaces all items. Earlier versions keep the items they had. */
  reset(items: Item[]): void {
    this.#newest = newVersion(items);
    this.#lastSnapshot = undefined;
  }

  /** Returns the current version. */
  snapshot(): ListVersion<Item> {
    this.#lastSnapshot = this.#newest;
    return this.#newest;
  }

  #advance(): void {
    const old = this.#newest;
    if (this.#lastSnapshot !== old) return;
    this.#newest = newVersion(old.items!);
    old.length = old.items!.length;
    old.items = undefined;
    old.newer = this.#newest;
  }
}

function newVersion<Item>(items: Item[]): ListVersion<Item> {
  return { items, newer: undefined, length: 0, undo: [] };
}

/** Copies the items of a version. */
export function readItems<Item>(version: ListVersion<Item>): Item[] {
  const path: Array<ListVersion<Item>> = [];
  let current = version;
  for (; current.items === undefined; current = current.newer!) path.push(current);
  const items = [...current.items];
  for (let step = path.pop(); step !== undefined; step = path.pop()) {
    items.length = step.length;
    for (let index = step.undo.length - 1; index >= 0; index--) {
      const [position, item] = step.undo[index]!;
      if (position < step.length) items[position] = item;
    }
  }
  return items;
}
