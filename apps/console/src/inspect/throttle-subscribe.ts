import type { RunEvents } from '../inspect-types.ts';

/** Pause after a slow render, as a multiple of its duration, so that typing stays responsive. */
const pauseFactor = 5;

/**
 * Throttles a subscription: notifies of the first change immediately, then at most once per `ms`, and less often if rendering is
 * slow.
 */
export function throttleSubscribe(
  subscribe: RunEvents['subscribe'],
  ms: number,
  now: () => number = () => performance.now(),
): RunEvents['subscribe'] {
  return (listener) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isDue = false;
    const notify = (): void => {
      const startedAt = now();
      timer = setTimeout(onTimer, ms);
      listener();
      // React renders in a microtask that was queued before this one.
      queueMicrotask(() => {
        const wait = (now() - startedAt) * pauseFactor;
        if (wait <= ms || timer === undefined) return;
        clearTimeout(timer);
        timer = setTimeout(onTimer, wait);
      });
    };
    const onTimer = (): void => {
      timer = undefined;
      if (!isDue) return;
      isDue = false;
      notify();
    };
    const unsubscribe = subscribe(() => {
      if (timer === undefined) notify();
      else isDue = true;
    });
    return () => {
      clearTimeout(timer);
      timer = undefined;
      unsubscribe();
    };
  };
}
