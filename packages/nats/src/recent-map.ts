/** A map that forgets its oldest entries. */
export type RecentMap<Key, Value> = Pick<Map<Key, Value>, 'get' | 'delete'> & { set(key: Key, value: Value): void };

export function createRecentMap<Key, Value>(maxSize: number): RecentMap<Key, Value> {
  const entries = new Map<Key, Value>();
  return {
    get: (key) => entries.get(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > maxSize) entries.delete(entries.keys().next().value!);
    },
  };
}
