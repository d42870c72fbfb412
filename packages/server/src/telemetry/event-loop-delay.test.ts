import { afterEach, expect, it, vi } from 'vitest';
import { EventLoopDelay } from './event-loop-delay.ts';

afterEach(() => void vi.useRealTimers());

/** A delay whose probes arrive at the given distances, in milliseconds. */
function probed(...distances: number[]): EventLoopDelay {
  vi.useFakeTimers();
  let now = 0;
  const delay = new EventLoopDelay(() => now);
  for (const distance of distances) {
    now += distance;
    delay.probe();
  }
  delay.close();
  return delay;
}

const idle = Array.from({ length: 20 }, () => 50);

it('reports no delay while timers fire in time', () => {
  const delay = probed(...idle, ...idle);
  expect([delay.ms, delay.isAbove(0)]).toEqual([0, false]);
});

it('exceeds the limit after two slow seconds, and not after one long task', () => {
  expect(probed(...idle, 5000).isAbove(500)).toBe(false);
  expect(probed(...idle, 600, 600, 5000).isAbove(500)).toBe(true);
  expect(probed(5000, ...idle).isAbove(500)).toBe(false);
});

it('falls below the limit after a second without delay', () => {
  const delay = probed(600, 600, 600, 600, ...idle);
  expect([delay.ms, delay.isAbove(500)]).toEqual([0, false]);
});
