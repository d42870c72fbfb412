import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadline } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new Promise<void>(() => {});

/** Returns a function that returns whether the wait is over. */
function startWaiting(deadline: Deadline, work = never): () => boolean {
  let isOver = false;
  void deadline.wait(work).then(() => (isOver = true));
  return () => isOver;
}

it('waits until the deadline', async () => {
  const deadline = new Deadline();
  deadline.shorten(100);
  const isOver = startWaiting(deadline);
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver()).toBe(true);
});

it('shortens a pending wait, and never extends it', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  const isOver = startWaiting(deadline);
  deadline.shorten(50);
  deadline.shorten(70_000);
  await vi.advanceTimersByTimeAsync(50);
  expect(isOver()).toBe(true);
});

it('ends the wait immediately when it is shortened to zero', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  const isOver = startWaiting(deadline);
  deadline.shorten(0);
  await vi.advanceTimersByTimeAsync(0);
  expect(isOver()).toBe(true);
});

it('does not expire early when it exceeds the longest timer', async () => {
  const deadline = new Deadline();
  deadline.shorten(Number.MAX_SAFE_INTEGER);
  const isOver = startWaiting(deadline);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOver()).toBe(false);
});

it('ends the wait when the work ends, and clears its timer', async () => {
  const deadline = new Deadline();
  deadline.shorten(60_000);
  await deadline.wait(Promise.resolve());
  expect(vi.getTimerCount()).toBe(0);
});
