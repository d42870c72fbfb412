import { modelSource, type ModelSourceOptions } from '@intertie/ai-sdk';
import { defined } from '@intertie/core/internal';
import type { LanguageModel } from 'ai';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type ModelAgentOptions = AgentDetails & Omit<ModelSourceOptions, 'name' | 'description' | 'onFrame'>;

/** Defines an agent that runs an AI SDK model with tools and instructions. */
export function model(languageModel: LanguageModel, options: ModelAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const { description } = details;
  return {
    ...details,
    kind: 'model',
    dialect: 'ai-sdk',
    createSource: (name, onFrame) =>
      modelSource(languageModel, { ...settings, ...defined({ description, onFrame }), name }),
  };
}
