import type { AgentDetails } from './agent-definition.ts';

/** Splits what people are told from what a source is configured with. */
export function splitDetails<Options extends AgentDetails>(
  options: Options,
): { details: AgentDetails; settings: Omit<Options, keyof AgentDetails> } {
  const { description, suggestions, ...settings } = options;
  return {
    details: { ...(description !== undefined && { description }), ...(suggestions && { suggestions }) },
    settings,
  };
}
