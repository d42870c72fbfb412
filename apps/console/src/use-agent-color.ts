import { createContext, use, useCallback } from 'react';
import { colorIndex, type ColorIndex } from './agent-color.ts';

/** Who is seen together: the agents of the server; within a thread, those who work in it. */
export const AgentColors = createContext<ColorIndex>(colorIndex);

/** What colour an agent has here, as CSS. */
export function useAgentColor(): (name: string) => string {
  const colors = use(AgentColors);
  return useCallback((name) => `var(--agent-${colors(name)})`, [colors]);
}
