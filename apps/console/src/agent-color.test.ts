import { describe, expect, it } from 'vitest';
import { agentColor, colorIndex } from './agent-color.ts';

describe('the colour of an agent', () => {
  it('is the same for the same name', () => {
    expect(agentColor('Planner')).toBe(agentColor('Planner'));
    expect(agentColor('Planner')).toMatch(/^var\(--agent-\d\)$/);
  });

  it('uses all colours, about equally', () => {
    const counts = Array.from({ length: 8 }, () => 0);
    for (let i = 0; i < 1000; i += 1) {
      const index = colorIndex(`agent-${i}`);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });
});
