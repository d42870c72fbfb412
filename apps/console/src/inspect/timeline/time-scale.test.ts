import { describe, expect, it } from 'vitest';
import { formatDuration, computeTicks } from './time-scale.ts';

describe('computeTicks', () => {
  it.each([
    [1000, [0, 200, 400, 600, 800, 1000]],
    [8530, [0, 2000, 4000, 6000, 8000]],
    [7, [0, 2, 4, 6]],
    [0, [0]],
    [Number.NaN, [0]],
  ])('computes round ticks for %i ms', (duration, ticks) => {
    expect(computeTicks(duration)).toEqual(ticks);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0'],
    [0.4, '<1 ms'],
    [412.6, '413 ms'],
    [1250, '1.25 s'],
    [2000, '2 s'],
    [12_340, '12.3 s'],
    [61_000, '1 min 1 s'],
  ])('formats %f ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
