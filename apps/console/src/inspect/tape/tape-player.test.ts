import { describe, expect, it } from 'vitest';
import { dueAt } from './tape-player.ts';

describe('dueAt', () => {
  it('counts what is due, all of one moment together', () => {
    const times = [0, 10, 10, 10, 25];
    expect([-1, 0, 9, 10, 24, 25, 99].map((t) => dueAt(times, t))).toEqual([0, 1, 1, 4, 4, 5, 5]);
    expect(dueAt([], 5)).toBe(0);
  });
});
