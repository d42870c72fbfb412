import type { AgentDefinition, AgentSource } from '@intertie/core';
import { override } from '@intertie/core/internal';

export function isAgentDefinition(value: unknown): value is AgentDefinition {
  return typeof value === 'object' && value !== null && typeof (value as AgentDefinition).createSource === 'function';
}

export function isAgentSource(value: unknown): value is AgentSource {
  return typeof value === 'object' && value !== null && typeof (value as AgentSource).run === 'function';
}

/** Kind of a custom source in a configuration. */
export const sourceKind = { name: 'source', title: 'source', description: 'A custom source' };

/** Wraps a custom source. The dialect of its frames is unknown. */
export function sourceDefinition(source: AgentSource): AgentDefinition {
  return { kind: sourceKind.name, dialect: 'source', createSource: (name) => override(source, { name }) };
}
