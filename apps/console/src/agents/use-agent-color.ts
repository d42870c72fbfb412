import { createContext, use, useCallback } from 'react';
import { hashToColor, type ColorIndex } from './agent-color.ts';

/** Colors of the agents that are shown together: all agents of the server, or the agents of one thread. */
export const AgentColors = createContext<ColorIndex>(hashToColor);

/** Returns a function from agent name to CSS color. */
export function useAgentColor(): (name: string) => string {
  const colors = use(AgentColors);
  return useCallback((name) => `var(--agent-${colors(name)})`, [colors]);
}
