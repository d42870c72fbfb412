import { describe, expect, it } from 'vitest';
import { assignColors, colorCount, hashToColor } from './agent-color.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `agent-${index}`);

describe('hashToColor', () => {
  it('distributes names over all colors about equally', () => {
    const counts = Array.from({ length: colorCount }, () => 0);
    for (const name of names(1000)) counts[hashToColor(name)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });
});

describe('assignColors', () => {
  it('separates names that hash to the same color', () => {
    expect(hashToColor('plan')).toBe(hashToColor('press'));
    const nodes = ['plan', 'archive', 'field', 'press'];
    expect(new Set(nodes.map(assignColors(nodes))).size).toBe(4);
  });

  it('reuses colors only when all are taken, and then equally often', () => {
    for (let count = 1; count <= 3 * colorCount; count += 1) {
      const colors = names(count).map(assignColors(names(count)));
      const users = colors.map((color) => colors.filter((other) => other === color).length);
      expect(new Set(colors).size).toBe(Math.min(count, colorCount));
      expect(Math.max(...users)).toBe(Math.ceil(count / colorCount));
    }
  });

  it('does not depend on the order of the names', () => {
    const colors = (all: string[]): number[] => names(6).map(assignColors(all));
    expect(colors(names(6))).toEqual(colors(names(6).toReversed()));
  });

  it('keeps the preferred color when it is free, known names first', () => {
    expect(assignColors(['Planner'], () => 5)('Planner')).toBe(5);
    expect(assignColors(['Planner'], () => 5)('Critic')).toBe(5);
    expect(assignColors(['Critic', 'Planner'], () => 5)('Planner')).toBe(6);
    expect(assignColors(['Critic', 'Planner'], () => 5, ['Planner'])('Planner')).toBe(5);
  });
});
