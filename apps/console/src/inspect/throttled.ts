import type { RunEvents } from '../inspect-types.ts';

/** Of the time, what is drawn may take at most one part in so many: the rest is for whoever types. */
const share = 5;

/**
 * Tells the first change at once and those that follow together: a page that types along must not wait for rows. Where to draw
 * them takes long, because there is much or because the machine has other things to do, they are told less often.
 */
export function throttled(
  subscribe: RunEvents['subscribe'],
  ms: number,
  now: () => number = () => performance.now(),
): RunEvents['subscribe'] {
  return (listener) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isDue = false;
    const tell = (): void => {
      const began = now();
      timer = setTimeout(rest, ms);
      listener();
      // React draws in a microtask of its own, which was asked for before this one.
      queueMicrotask(() => {
        const wait = (now() - began) * share;
        if (wait <= ms || timer === undefined) return;
        clearTimeout(timer);
        timer = setTimeout(rest, wait);
      });
    };
    const rest = (): void => {
      timer = undefined;
      if (!isDue) return;
      isDue = false;
      tell();
    };
    const unsubscribe = subscribe(() => {
      if (timer === undefined) tell();
      else isDue = true;
    });
    return () => {
      clearTimeout(timer);
      timer = undefined;
      unsubscribe();
    };
  };
}
