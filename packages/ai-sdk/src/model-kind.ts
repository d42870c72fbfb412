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
    // Every request to a model has a price.
    probe: async () => ({ isFine: true, found: 'configured (not contacted)' }),
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
    variables: [
      { name: 'AI_GATEWAY_API_KEY', description: 'Key of the AI Gateway, for models that are named by a string' },
    ],
    dependencies: () => ({ ai: '^6.0.326', zod: '^4.6.7' }),
    config: `import { tool } from 'ai';
import { defineConfig, demoModel, model } from 'intertie';
import { z } from 'zod';

// A script that needs no API key. For a real model, change this line: 'openai/gpt-5-mini' uses AI_GATEWAY_API_KEY.
const languageModel = demoModel();

export default defineConfig({
  agents: {
    helper: model(languageModel, {
      instructions: 'Be brief.',
      recover: 'step', // a run continues after a crash or a deployment
      suggestions: ['What is the weather in Lisbon?', 'Send an email to Ada'],
      tools: {
        weather: tool({
          description: 'The weather in a city.',
          inputSchema: z.object({ city: z.string() }),
          metadata: { idempotent: true }, // may run again after a crash
          execute: async ({ city }) => ({ city, celsius: 21, sky: 'clear' }),
        }),
        sendEmail: tool({
          description: 'Sends an email.',
          inputSchema: z.object({ to: z.string(), subject: z.string(), body: z.string() }),
          needsApproval: true,
          execute: async ({ to }) => ({ sent: true, to }),
        }),
      },
    }),
  },
});
`,
    readme: `Try in the page: "What is the weather in Lisbon?" runs a tool, "Send an email to Ada" asks for your approval first.
Reload while it waits: the question is still there.

The answers come from a script. For a real model, change \`languageModel\` in \`intertie.config.ts\`: \`'openai/gpt-5-mini'\`
with \`AI_GATEWAY_API_KEY\` in \`.env\`, or any model of the AI SDK, for example \`anthropic('claude-sonnet-4-5')\` after
\`npm install @ai-sdk/anthropic@3\`. With Node 22 or later, \`npm install ai@7 @ai-sdk/react@4\` changes to AI SDK 7.
`,
  },
};
