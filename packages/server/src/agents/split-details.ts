import { defined } from '@intertie/core/internal';
import type { AgentDetails } from './agent-definition.ts';

/** Splits agent options into options that all agents have and settings of the source. */
export function splitDetails<Options extends AgentDetails>(
  options: Options,
): { details: AgentDetails; settings: Omit<Options, keyof AgentDetails> } {
  const { description, suggestions, stopOnDisconnect, interrupts, ...settings } = options;
  return { details: defined({ description, suggestions, stopOnDisconnect, interrupts }), settings };
}
