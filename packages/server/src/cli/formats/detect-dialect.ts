import type { KnownDialect } from './known-dialect.ts';

/** Enough to tell any two dialects apart. */
const enough = 32;

/**
 * Says which dialect the items are of, as they come: undefined while two of them could still be meant (a UI message stream
 * and a full stream both begin with `start`).
 */
export function createDetector(candidates: readonly KnownDialect[]): {
  /** An item, in all the ways in which it may be read. */
  feed(...readings: unknown[]): KnownDialect | undefined;
  /** There are no more items: whatever fits best. */
  settle(): KnownDialect | undefined;
} {
  const scores = new Map(candidates.map((candidate) => [candidate, 0]));
  let seen = 0;

  const leaders = (): KnownDialect[] => {
    const most = Math.max(...scores.values());
    return most === 0 ? [] : [...scores].filter(([, score]) => score === most).map(([candidate]) => candidate);
  };

  return {
    feed(...readings) {
      seen += 1;
      for (const [candidate, score] of scores) {
        if (readings.some((item) => candidate.looksLike(item))) scores.set(candidate, score + 1);
      }
      const [first, ...others] = leaders();
      if (others.length > 0 && seen < enough) return undefined;
      // One that fits now and then is not meant.
      return first && scores.get(first)! * 2 > seen ? first : undefined;
    },
    settle: () => leaders()[0],
  };
}
