import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { splitDetails } from '@intertie/core/internal';
import { uiMessageStreamSource, type UIMessageStreamSourceOptions } from './source/ui-message-stream-source.ts';
import { uiMessageStream } from './ui-message-stream-protocol.ts';

export type ChatRouteAgentOptions = AgentDetails & Omit<UIMessageStreamSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that calls an AI SDK chat route by its URL, in any language that streams UI messages. */
export function chatRoute(options: ChatRouteAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: chatRouteKind.name,
    dialect: uiMessageStream.name,
    createSource: (name, onFrame) => uiMessageStreamSource({ ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

/** AI SDK chat routes as agents of a server. */
export const chatRouteKind: AgentKind<[ChatRouteAgentOptions]> = {
  name: 'chat-route',
  title: 'chat route',
  description: 'An AI SDK chat route',
  functionName: 'chatRoute',
  define: chatRoute,
};
