import type { Protocol } from '@intertie/core';
import type { Entry } from './open-stream.ts';

type ItemEntry = Extract<Entry, { type: 'item' }>;

export interface ItemClock {
  observe(entry: ItemEntry): void;
  /** Time of the last observed entry. */
  time(): number;
}

/** Determines the time of items, in milliseconds after the first: from the tape, the item, or `now`. Never goes backwards. */
export function createItemClock(known: Protocol, now: (() => number) | undefined): ItemClock {
  let startedAt: number | undefined;
  let last = 0;
  let current: ItemEntry | undefined;
  return {
    observe: (entry) => void (current = entry),
    time() {
      if (current?.t !== undefined) return (last = Math.max(last, current.t));
      const at = now?.() ?? (current && known.readTime?.(current.item));
      if (at === undefined) return last;
      startedAt ??= at;
      return (last = Math.max(last, at - startedAt));
    },
  };
}
