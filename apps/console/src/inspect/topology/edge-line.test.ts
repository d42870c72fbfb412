import { describe, expect, it } from 'vitest';
import { computeEdgeLine } from './edge-line.ts';

const box = (x: number, y: number) => ({ x, y, width: 100, height: 40 });

describe('computeEdgeLine', () => {
  it('connects the borders of two boxes', () => {
    expect(computeEdgeLine(box(0, 0), box(0, 140), false)).toEqual({ path: 'M50,42L50,134', labelX: 50, labelY: 88 });
    expect(computeEdgeLine(box(0, 0), box(300, 0), false).path).toBe('M102,20L294,20');
  });

  it('separates the two directions of a mutual edge', () => {
    const down = computeEdgeLine(box(0, 0), box(0, 140), true);
    const up = computeEdgeLine(box(0, 140), box(0, 0), true);
    expect(Math.abs(down.labelX - up.labelX)).toBe(18);
  });

  it('bends around boxes in between, each direction on its own side', () => {
    const [top, between, bottom] = [box(0, 0), box(0, 140), box(0, 280)];
    const down = computeEdgeLine(top, bottom, true, [top, between, bottom]);
    const up = computeEdgeLine(bottom, top, true, [top, between, bottom]);
    expect(down.path).toContain('Q');
    expect(down.labelX).toBeLessThan(0);
    expect(up.labelX).toBeGreaterThan(100);
    expect(computeEdgeLine(top, box(300, 280), false, [top, between]).path).not.toContain('Q');
  });

  it('accepts boxes at the same position', () => {
    expect(computeEdgeLine(box(0, 0), box(0, 0), true).path).not.toContain('NaN');
  });
});
