import { itemsOf, VersionedList, type ListVersion } from './versioned-list.ts';

export type DirectoryVersion<Entry> = ListVersion<readonly [id: string, entry: Entry]>;

/** Entries by id whose versions stay readable, as those of a `VersionedList` do. Removing one is O(n). */
export class VersionedDirectory<Entry> {
  #entries: VersionedList<readonly [id: string, entry: Entry]>;
  #places = new Map<string, number>();

  constructor(entries: { [id: string]: Entry } = {}) {
    const list = Object.entries(entries);
    for (const [place, [id]] of list.entries()) this.#places.set(id, place);
    this.#entries = new VersionedList<readonly [string, Entry]>(list);
  }

  get(id: string): Entry | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#entries.at(place)![1];
  }

  set(id: string, entry: Entry): void {
    const place = this.#places.get(id);
    if (place === undefined) {
      this.#places.set(id, this.#entries.length);
      this.#entries.push([id, entry]);
    } else this.#entries.set(place, [id, entry]);
  }

  delete(id: string): void {
    const kept: Array<readonly [string, Entry]> = [];
    for (let place = 0; place < this.#entries.length; place++) {
      const entry = this.#entries.at(place)!;
      if (entry[0] !== id) kept.push(entry);
    }
    this.#entries.reset(kept);
    this.#places = new Map(kept.map(([key], place) => [key, place]));
  }

  take(): DirectoryVersion<Entry> {
    return this.#entries.take();
  }
}

/** A version as an object, or undefined where it is empty. Ids come from the wire, so every key is an own one. */
export function directoryOf<Entry>(version: DirectoryVersion<Entry>): { [id: string]: Entry } | undefined {
  const entries = itemsOf(version);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
