/** Longer delays overflow a timer, which then fires at once. */
export const MAX_DELAY: number = 2 ** 31 - 1;

export interface Alarm {
  /** Does nothing while it is set. */
  set(): void;
  clear(): void;
}

/** A timer that is set and cleared many times. Without a delay, or with one of a month, it never rings. */
export function createAlarm(delayMs: number | undefined, ring: () => void): Alarm {
  if (delayMs === undefined || delayMs > MAX_DELAY) return { set() {}, clear() {} };
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    set() {
      timer ??= setTimeout(() => {
        timer = undefined;
        ring();
      }, delayMs);
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
