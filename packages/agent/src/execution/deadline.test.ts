import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<void>(() => {});

/** Whether the wait is over, looked at later. */
function waiting(deadline: Deadline, work = never): () => boolean {
  let isOver = false;
  void deadline.wait(work).then(() => (isOver = true));
  return () => isOver;
}

it('waits as long as it was told', async () => {
  const deadline = new Deadline();
  deadline.shorten(100);
  const isOver = waiting(deadline);
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver()).toBe(true);
});

it('becomes shorter while it is waited, and never longer', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  const isOver = waiting(deadline);
  deadline.shorten(50);
  deadline.shorten(70_000);
  await vi.advanceTimersByTimeAsync(50);
  expect(isOver()).toBe(true);
});

it('is none at all where it is told so', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  const isOver = waiting(deadline);
  deadline.shorten(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(isOver()).toBe(true);
});

it('of any length is not mistaken for none', async () => {
  const deadline = new Deadline();
  deadline.shorten(Number.MAX_SAFE_INTEGER);
  const isOver = waiting(deadline);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOver()).toBe(false);
});

it('ends with the work, and leaves no timer', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  await deadline.wait(Promise.resolve());
  expect(vi.getTimerCount()).toBe(0);
});
