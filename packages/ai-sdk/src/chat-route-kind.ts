import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { createProbeRun, probeAddress, splitDetails } from '@intertie/core/internal';
import {
  requestRoute,
  uiMessageStreamSource,
  type UIMessageStreamSourceOptions,
} from './source/ui-message-stream-source.ts';
import { uiMessageStream } from './ui-message-stream-protocol.ts';

export type ChatRouteAgentOptions = AgentDetails & Omit<UIMessageStreamSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that calls an AI SDK chat route by its URL, in any language that streams UI messages. */
export function chatRoute(options: ChatRouteAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: chatRouteKind.name,
    dialect: uiMessageStream.name,
    // A POST could start a run. A route that only knows POST answers 404 or 405 to this request.
    probe: (signal) =>
      probeAddress(settings.api, () => requestRoute(settings, createProbeRun(), settings.api, { signal })),
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
