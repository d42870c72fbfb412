import { MAX_DELAY } from '../stream/alarm.ts';
import { pause } from '../stream/pause.ts';
import { pullStream } from '../stream/pull-stream.ts';
import type { Tape } from './tape.ts';

export interface PlayTapeOptions {
  /** Playback speed. 2 is twice as fast, Infinity does not wait. Default: 1, as recorded. */
  speed?: number;
  now?: () => number;
}

/** Emits the items of a tape at their recorded times. A reader that falls behind gets the items that are due immediately. */
export function playTape<Item>(
  tape: Tape<Item>,
  { speed = 1, now = Date.now }: PlayTapeOptions = {},
): ReadableStream<Item> {
  assertSpeed(speed);
  let startedAt: number | undefined;
  let index = 0;
  const cancelled = new AbortController();
  return pullStream({
    async pull(emit) {
      const next = tape.items[index];
      if (next === undefined) return false;
      startedAt ??= now();
      const due = startedAt + next.t / speed;
      for (let wait = due - now(); wait > 0; wait = due - now()) {
        // One timer cannot wait longer than MAX_DELAY.
        await pause(Math.min(wait, MAX_DELAY), cancelled.signal);
      }
      index += 1;
      emit(next.item);
      return true;
    },
    cancel: () => cancelled.abort(),
  });
}

/** Throws a `RangeError` unless the speed is above 0. */
export function assertSpeed(speed: number): void {
  if (!(speed > 0)) {
    throw new RangeError(`Invalid tape speed ${speed}. Use a number above 0, or Infinity to play without waiting.`);
  }
}
