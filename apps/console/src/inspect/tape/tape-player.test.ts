import { describe, expect, it } from 'vitest';
import { countDue } from './tape-player.ts';

describe('countDue', () => {
  it('counts the items up to a time, including all at that time', () => {
    const times = [0, 10, 10, 10, 25];
    expect([-1, 0, 9, 10, 24, 25, 99].map((t) => countDue(times, t))).toEqual([0, 1, 1, 4, 4, 5, 5]);
    expect(countDue([], 5)).toBe(0);
  });
});
