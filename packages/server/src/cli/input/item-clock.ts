import type { KnownDialect } from '../formats/known-dialect.ts';
import type { Entry } from './open-stream.ts';

type ItemEntry = Extract<Entry, { type: 'item' }>;

export interface ItemClock {
  see(entry: ItemEntry): void;
  /** Of the entry that was seen last. */
  time(): number;
}

/** When an item came: as the tape says, as the item says, or now, in milliseconds after the first. It never goes back. */
export function createItemClock(known: KnownDialect, now: (() => number) | undefined): ItemClock {
  let began: number | undefined;
  let last = 0;
  let current: ItemEntry | undefined;
  return {
    see: (entry) => void (current = entry),
    time() {
      if (current?.t !== undefined) return (last = Math.max(last, current.t));
      const at = now?.() ?? (current && known.timeOf(current.item));
      if (at === undefined) return last;
      began ??= at;
      return (last = Math.max(last, at - began));
    },
  };
}
