import { readItems, VersionedList, type ListVersion } from './versioned-list.ts';

export type DirectoryVersion<Entry> = ListVersion<readonly [id: string, entry: Entry]>;

/** Map by id whose versions stay readable, like those of a `VersionedList`. `delete` is O(n). */
export class VersionedDirectory<Entry> {
  #entries: VersionedList<readonly [id: string, entry: Entry]>;
  #indexes = new Map<string, number>();

  constructor(entries: { [id: string]: Entry } = {}) {
    const list = Object.entries(entries);
    for (const [index, [id]] of list.entries()) this.#indexes.set(id, index);
    this.#entries = new VersionedList<readonly [string, Entry]>(list);
  }

  get(id: string): Entry | undefined {
    const index = this.#indexes.get(id);
    return index === undefined ? undefined : this.#entries.at(index)![1];
  }

  set(id: string, entry: Entry): void {
    const index = this.#indexes.get(id);
    if (index === undefined) {
      this.#indexes.set(id, this.#entries.length);
      this.#entries.push([id, entry]);
    } else this.#entries.set(index, [id, entry]);
  }

  delete(id: string): void {
    const kept: Array<readonly [string, Entry]> = [];
    for (let index = 0; index < this.#entries.length; index++) {
      const entry = this.#entries.at(index)!;
      if (entry[0] !== id) kept.push(entry);
    }
    this.#entries.reset(kept);
    this.#indexes = new Map(kept.map(([key], index) => [key, index]));
  }

  snapshot(): DirectoryVersion<Entry> {
    return this.#entries.snapshot();
  }
}

/** Converts a version to an object, or undefined if empty. `fromEntries` is safe for ids from the wire such as `__proto__`. */
export function readDirectory<Entry>(version: DirectoryVersion<Entry>): { [id: string]: Entry } | undefined {
  const entries = readItems(version);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
