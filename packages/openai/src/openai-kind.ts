import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { probeAddress, splitDetails } from '@intertie/core/internal';
import { openai } from './openai-protocol.ts';
import { requestServer } from './source/request-response.ts';
import { openaiSource, type OpenAISourceOptions } from './source/openai-source.ts';

export type OpenAIResponsesOptions = AgentDetails & Omit<OpenAISourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that runs on a server of the Responses API, such as OpenAI or another Intertie server. */
export function openaiResponses(options: OpenAIResponsesOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: openaiResponsesKind.name,
    dialect: openai.name,
    probe: (signal) => probeAddress(settings.baseURL, () => requestServer(settings, '/models', { signal })),
    createSource: (name, onFrame) => openaiSource({ ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

/** Servers of the Responses API as agents of a server. */
export const openaiResponsesKind: AgentKind<[OpenAIResponsesOptions]> = {
  name: openai.name,
  title: 'OpenAI Responses',
  description: 'A model or an agent behind the Responses API',
  functionName: 'openaiResponses',
  define: openaiResponses,
};
