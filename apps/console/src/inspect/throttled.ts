import type { RunEvents } from '../inspect-types.ts';

/** Rows that come faster than this cannot be read one by one. */
const readableMs = 50;

/** Tells the first change at once and those that follow together: a page that types along must not wait for rows. */
export function throttled(subscribe: RunEvents['subscribe'], ms: number = readableMs): RunEvents['subscribe'] {
  return (listener) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isDue = false;
    const rest = (): void => {
      timer = undefined;
      if (!isDue) return;
      isDue = false;
      timer = setTimeout(rest, ms);
      listener();
    };
    const unsubscribe = subscribe(() => {
      if (timer !== undefined) {
        isDue = true;
        return;
      }
      timer = setTimeout(rest, ms);
      listener();
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  };
}
