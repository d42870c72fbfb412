import { useEffect, useRef, useState } from 'react';

export const speeds = [1, 2, 4, 16] as const;
export type Speed = (typeof speeds)[number];

/** Counts the items with a time up to `t` by binary search. Times must not decrease. */
export function countDue(times: readonly number[], t: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Advances the cursor in real time, at most once per animation frame. Stops at the end. */
export function usePlayer(
  times: readonly number[],
  cursor: number,
  onCursor: (cursor: number) => void,
): { isPlaying: boolean; setPlaying: (play: boolean) => void; speed: Speed; setSpeed: (speed: Speed) => void } {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const latest = useRef({ times, cursor, onCursor });
  useEffect(() => {
    latest.current = { times, cursor, onCursor };
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    let now = latest.current.times[latest.current.cursor - 1] ?? 0;
    let last = performance.now();
    let request = requestAnimationFrame(function tick(at) {
      const { times: all, cursor: current, onCursor: setCursor } = latest.current;
      // Limits the step, so that a page that was hidden continues where it stopped.
      now += Math.min(100, at - last) * speed;
      last = at;
      const due = countDue(all, now);
      if (due > current) setCursor(due);
      if (due >= all.length) setPlaying(false);
      else request = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(request);
  }, [isPlaying, speed]);
  return { isPlaying, setPlaying, speed, setSpeed };
}
