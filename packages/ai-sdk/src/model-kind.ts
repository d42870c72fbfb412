import type { AgentDefinition, AgentDetails, AgentKind } from '@intertie/core';
import { defined, splitDetails } from '@intertie/core/internal';
import type { LanguageModel } from 'ai';
import { fullStream } from './full-stream/full-stream-protocol.ts';
import { modelSource, type ModelSourceOptions } from './source/model-source.ts';

export type ModelAgentOptions = AgentDetails &
  Omit<ModelSourceOptions, 'name' | 'description' | 'onFrame' | 'onModelCall'>;

/** Defines an agent that runs an AI SDK model with tools and instructions. */
export function modelAgent(languageModel: LanguageModel, options: ModelAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const { description } = details;
  return {
    ...details,
    kind: modelKind.name,
    dialect: fullStream.name,
    reportsModelCalls: true,
    createSource: (name, onFrame, onModelCall) =>
      modelSource(languageModel, { ...settings, ...defined({ description, onFrame, onModelCall }), name }),
  };
}

/** AI SDK models as agents of a server. The server adds the providers that it installs, and a scripted model. */
export const modelKind: AgentKind<[LanguageModel, ModelAgentOptions?]> = {
  name: 'model',
  title: 'AI SDK',
  description: 'A model through the AI SDK',
  functionName: 'model',
  define: modelAgent,
  template: {
    name: 'agent',
    variables: ['ANTHROPIC_API_KEY'],
    dependencies: () => ({ '@ai-sdk/anthropic': '^3.0.137', ai: '^6.0.326', zod: '^4.6.7' }),
    config: `import { anthropic } from '@ai-sdk/anthropic';
import { tool } from 'ai';
import { defineConfig, model } from 'intertie';
import { z } from 'zod';

export default defineConfig({
  agents: {
    helper: model(anthropic('claude-sonnet-4-5'), {
      instructions: 'Be brief.',
      tools: {
        time: tool({
          description: 'The time now.',
          inputSchema: z.object({ zone: z.string() }),
          execute: async ({ zone }) => new Date().toLocaleTimeString('en', { timeZone: zone }),
        }),
      },
    }),
  },
});
`,
  },
};
