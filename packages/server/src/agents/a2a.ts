import { a2aProtocol, a2aSource, type A2ASourceOptions } from '@intertie/a2a';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type A2AAgentOptions = AgentDetails & Omit<A2ASourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that calls an A2A agent by its URL, or by the URL of its card. */
export function a2a(options: A2AAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: 'a2a',
    dialect: a2aProtocol.name,
    createSource: (name, onFrame) => a2aSource({ ...settings, name, ...(onFrame && { onFrame }) }),
  };
}
