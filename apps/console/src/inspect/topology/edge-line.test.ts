import { describe, expect, it } from 'vitest';
import { edgeLine } from './edge-line.ts';

const box = (x: number, y: number) => ({ x, y, width: 100, height: 40 });

describe('edgeLine', () => {
  it('goes from border to border', () => {
    expect(edgeLine(box(0, 0), box(0, 140), false)).toEqual({ path: 'M50,42L50,134', labelX: 50, labelY: 88 });
    expect(edgeLine(box(0, 0), box(300, 0), false).path).toBe('M102,20L294,20');
  });

  it('keeps the two ways of a pair apart', () => {
    const down = edgeLine(box(0, 0), box(0, 140), true);
    const up = edgeLine(box(0, 140), box(0, 0), true);
    expect(Math.abs(down.labelX - up.labelX)).toBe(18);
  });

  it('goes around what is in its way, each way on its own side', () => {
    const [top, between, bottom] = [box(0, 0), box(0, 140), box(0, 280)];
    const down = edgeLine(top, bottom, true, [top, between, bottom]);
    const up = edgeLine(bottom, top, true, [top, between, bottom]);
    expect(down.path).toContain('Q');
    expect(down.labelX).toBeLessThan(0);
    expect(up.labelX).toBeGreaterThan(100);
    expect(edgeLine(top, box(300, 280), false, [top, between]).path).not.toContain('Q');
  });

  it('takes boxes at one place', () => {
    expect(edgeLine(box(0, 0), box(0, 0), true).path).not.toContain('NaN');
  });
});
