import { afterEach, expect, it, vi } from 'vitest';
import { RateLimit } from './rate-limit.ts';

afterEach(() => void vi.restoreAllMocks());

it('refills as time passes', () => {
  let now = 0;
  const limit = new RateLimit(1, { burst: 1, now: () => now });
  expect(limit.take('a')).toBe(0);
  expect(limit.take('a')).toBe(1);
  now = 1000;
  expect(limit.take('a')).toBe(0);
});

it('does not ask a client to wait because the system clock was set back', () => {
  const limit = new RateLimit(100);
  expect(limit.take('a')).toBe(0);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 2 * 60 * 60 * 1000);
  expect(limit.take('a')).toBe(0);
});
