import type { Hint, Hints } from '../hints.ts';

/** A bus inside the process. Hints arrive after the call that caused them, as they would from elsewhere. */
export function createInMemoryHints(): Hints {
  const listeners = new Set<(hint: Hint) => void>();
  return {
    publish(hint) {
      for (const listener of listeners) {
        // One task each: a listener that throws takes the hint from no other.
        queueMicrotask(() => {
          if (listeners.has(listener)) listener(hint);
        });
      }
    },
    subscribe(listener) {
      // A function of its own, so that who subscribes twice is told twice and unsubscribes once.
      const own = (hint: Hint): void => listener(hint);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
