import { describe, expect, it } from 'vitest';
import { assignColors, colorCount, colorIndex } from './agent-color.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `agent-${index}`);

describe('the colour of a name', () => {
  it('uses all colours, about equally', () => {
    const counts = Array.from({ length: colorCount }, () => 0);
    for (const name of names(1000)) counts[colorIndex(name)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });
});

describe('the colours of those who are seen together', () => {
  it('plan and press, who have the same one by themselves, differ', () => {
    expect(colorIndex('plan')).toBe(colorIndex('press'));
    const nodes = ['plan', 'archive', 'field', 'press'];
    expect(new Set(nodes.map(assignColors(nodes))).size).toBe(4);
  });

  it('are all different until there are no more, and then used equally often', () => {
    for (let count = 1; count <= 3 * colorCount; count += 1) {
      const colors = names(count).map(assignColors(names(count)));
      const users = colors.map((color) => colors.filter((other) => other === color).length);
      expect(new Set(colors).size).toBe(Math.min(count, colorCount));
      expect(Math.max(...users)).toBe(Math.ceil(count / colorCount));
    }
  });

  it('are the same whoever came first', () => {
    const colors = (all: string[]): number[] => names(6).map(assignColors(all));
    expect(colors(names(6))).toEqual(colors(names(6).toReversed()));
  });

  it('are those that they have elsewhere, where nobody else has them', () => {
    expect(assignColors(['Planner'], () => 5)('Planner')).toBe(5);
    expect(assignColors(['Planner'], () => 5)('Critic')).toBe(5);
    expect(assignColors(['Critic', 'Planner'], () => 5)('Planner')).toBe(6);
    expect(assignColors(['Critic', 'Planner'], () => 5, ['Planner'])('Planner')).toBe(5);
  });
});
