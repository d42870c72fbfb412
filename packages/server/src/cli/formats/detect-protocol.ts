import type { Protocol } from '@intertie/core';

/** Number of items after which any two protocols can be distinguished. */
const maxAmbiguous = 32;

/**
 * Detects the protocol of a stream by counting how many items each candidate recognizes. The result is undefined while two
 * protocols are equally likely: several begin with an item of the type `start`.
 */
export function createDetector(candidates: readonly Protocol[]): {
  /** Feeds one item, in every way in which it can be parsed. */
  feed(...readings: unknown[]): Protocol | undefined;
  /** Returns the most likely protocol at the end of the input. */
  settle(): Protocol | undefined;
} {
  const scores = new Map(candidates.map((candidate) => [candidate, 0]));
  let seen = 0;

  const leaders = (): Protocol[] => {
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
      if (others.length > 0 && seen < maxAmbiguous) return undefined;
      // The protocol must recognize more than half of the items.
      return first && scores.get(first)! * 2 > seen ? first : undefined;
    },
    settle: () => leaders()[0],
  };
}
