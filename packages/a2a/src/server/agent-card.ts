import type { DurableAgent, JsonObject } from '@intertie/core';
import { eventsExtension } from '../shared/extension.ts';
import type { A2AHandlerOptions } from './a2a-handler-options.ts';

/** Path of an agent card below the URL of its agent. */
export const cardPath = '/.well-known/agent-card.json';

export const defaultInputModes: readonly string[] = ['text/plain', 'application/json', '*/*'];

/** Creates the agent card, with the agents of the source as skills. `url` is the address of the endpoint. */
export async function createAgentCard(
  agent: DurableAgent,
  url: string,
  options: A2AHandlerOptions,
): Promise<JsonObject> {
  const { name = agent.name, version = '1', inputModes = defaultInputModes, requiresToken = false } = options;
  const { description = `The agent ${name} of an Intertie server.` } = options;
  const security = {
    securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
  };
  return {
    name,
    description,
    version,
    supportedInterfaces: ['JSONRPC', 'HTTP+JSON'].map((protocolBinding) => ({
      url,
      protocolBinding,
      protocolVersion: '1.0',
    })),
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: eventsExtension,
          description: 'Sends reasoning, tool calls, agents and state as metadata of updates.',
          required: false,
        },
      ],
    },
    defaultInputModes: [...inputModes],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: await listSkills(agent, description),
    ...(requiresToken && security),
  };
}

async function listSkills(agent: DurableAgent, description: string): Promise<JsonObject[]> {
  const topology = await agent.source.describe?.().catch(() => undefined);
  const found = topology?.agents ?? [];
  const agents = found.length > 0 ? found : [{ name: agent.name, kind: 'agent' as const, description }];
  return agents.map(({ name, kind, description: about = `Part of ${agent.name}.` }) => ({
    id: name,
    name,
    description: about,
    tags: [kind],
  }));
}
