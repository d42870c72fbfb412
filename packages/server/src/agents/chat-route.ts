import { uiMessageStream, uiMessageStreamSource, type UIMessageStreamSourceOptions } from '@intertie/ai-sdk';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type ChatRouteAgentOptions = AgentDetails & Omit<UIMessageStreamSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that calls an AI SDK chat route by its URL, in any language that streams UI messages. */
export function chatRoute(options: ChatRouteAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: 'chat-route',
    dialect: uiMessageStream.name,
    createSource: (name, onFrame) => uiMessageStreamSource({ ...settings, name, ...(onFrame && { onFrame }) }),
  };
}
