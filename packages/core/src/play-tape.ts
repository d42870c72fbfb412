import { MAX_DELAY } from './alarm.ts';
import type { Tape } from './tape.ts';

export interface PlayTapeOptions {
  /** 1 as recorded (the default), 2 twice as fast, Infinity at once. */
  speed?: number;
  now?: () => number;
}

/**
 * The items of a tape at their times. A reader that falls behind is given the items that are due without waiting;
 * cancelling stops the clock.
 */
export function playTape<Item>(
  tape: Tape<Item>,
  { speed = 1, now = Date.now }: PlayTapeOptions = {},
): ReadableStream<Item> {
  assertSpeed(speed);
  let began: number | undefined;
  let index = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Item>(
    {
      pull(controller) {
        const next = tape.items[index];
        if (next === undefined) return controller.close();
        began ??= now();
        const due = began + next.t / speed;
        return new Promise((resolve) => {
          const deliver = (): void => {
            const wait = due - now();
            if (wait > 0) {
              timer = setTimeout(deliver, Math.min(wait, MAX_DELAY));
              return;
            }
            index += 1;
            controller.enqueue(next.item);
            resolve();
          };
          deliver();
        });
      },
      cancel: () => clearTimeout(timer),
    },
    { highWaterMark: 0 },
  );
}

export function assertSpeed(speed: number): void {
  if (!(speed > 0)) {
    throw new RangeError(`A tape cannot be played at speed ${speed}: give a number above 0, or Infinity for at once.`);
  }
}
