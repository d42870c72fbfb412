import { modelSource } from '@intertie/ai-sdk';
import { createInMemoryStore, type AgentSource, type Store } from '@intertie/core';
import type { ToolSet } from 'ai';
import type { AgentDefinition } from './agent-definition.ts';
import type { AgentOptions, ModelAgentOptions } from './agent-options.ts';
import { runHostOf, type RunHost } from './run-host.ts';
import { firstWords } from './thread-title.ts';

/** Where an agent is at home: what it is, where it is kept, and what runs it. */
export type AgentHome = { definition: AgentDefinition; store: Store; host: RunHost };

export function homeOf<Tools extends ToolSet>(options: AgentOptions<Tools>): AgentHome {
  const { store = createInMemoryStore(), onLoss = () => undefined, title = firstWords } = options;
  const { history = {}, retainReasoning = 'all' } = options;
  const source = options.source ?? sourceOf(options);
  const host = options.host ?? runHostOf(store);
  const name = options.name ?? source.name;
  const definition: AgentDefinition = { name, source, title, history, retainReasoning, onLoss };
  host.register(definition);
  return { definition, store, host };
}

/** The rest of the options are those of `streamText`. */
function sourceOf<Tools extends ToolSet>(options: ModelAgentOptions<Tools>): AgentSource {
  const { store: _, host: __, title: ___, history: ____, retainReasoning: _____, source: ______, ...rest } = options;
  const { model, ...settings } = rest;
  return modelSource(model, settings);
}
