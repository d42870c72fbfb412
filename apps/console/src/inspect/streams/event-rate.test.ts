import { describe, expect, it } from 'vitest';
import { EventRate } from './event-rate.ts';

describe('EventRate', () => {
  it('counts events of the last second', () => {
    const rate = new EventRate();
    for (let at = 0; at <= 3000; at += 100) rate.record(at, at / 10);
    expect(rate.now).toBeCloseTo(100, -1);
    rate.record(10_000, 300);
    expect(rate.now).toBeLessThan(5);
  });

  it('returns 0 without events', () => {
    expect(new EventRate().now).toBe(0);
    expect(EventRate.average([])).toBe(0);
  });

  it('averages over the times of a complete run', () => {
    const start = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 1000 } as const;
    const deltas = Array.from({ length: 8 }, () => ({ type: 'text-delta', id: 'x', delta: '.' }) as const);
    expect(EventRate.average([start, ...deltas, { type: 'run-end', outcome: 'complete', at: 3000 }])).toBe(5);
  });
});
