/** Maximum delay of `setTimeout`. A longer delay overflows and fires immediately. */
export const MAX_DELAY: number = 2 ** 31 - 1;

/** Timer that can be set and cleared many times. */
export interface Alarm {
  /** Starts the timer. No effect while it is running. */
  set(): void;
  clear(): void;
}

/** Creates an alarm. Without a delay, or with a delay above `MAX_DELAY`, it never fires. */
export function createAlarm(delayMs: number | undefined, onTimeout: () => void): Alarm {
  if (delayMs === undefined || delayMs > MAX_DELAY) return { set() {}, clear() {} };
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    set() {
      timer ??= setTimeout(() => {
        timer = undefined;
        onTimeout();
      }, delayMs);
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
