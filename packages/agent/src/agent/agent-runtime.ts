import { modelSource } from '@intertie/ai-sdk';
import { createInMemoryStore, type AgentSource, type Store } from '@intertie/core';
import type { ToolSet } from 'ai';
import type { AgentDefinition } from '../execution/agent-definition.ts';
import type { AgentOptions, ModelAgentOptions } from './agent-options.ts';
import { toStore } from '../history/message-store.ts';
import { runHostOf, type RunHost } from '../execution/run-host.ts';
import { firstWords } from './thread-title.ts';

/** Where an agent is at home: what it is, where it is kept, and what runs it. */
export type AgentRuntime = { definition: AgentDefinition; store: Store; host: RunHost };

export function homeOf<Tools extends ToolSet>(options: AgentOptions<Tools>): AgentRuntime {
  const { onLoss = () => undefined, title = firstWords } = options;
  const { history = {}, retainReasoning = 'all', storeReasoning = 'all' } = options;
  const store = toStore(options.store ?? createInMemoryStore());
  const source = options.source ?? sourceOf(options);
  const host = options.host ?? runHostOf(store);
  const name = options.name ?? source.name;
  const definition: AgentDefinition = { name, source, title, history, retainReasoning, storeReasoning, onLoss };
  host.register(definition);
  return { definition, store, host };
}

const ownOptions: ReadonlySet<string> = new Set<keyof ModelAgentOptions<ToolSet>>([
  'store',
  'host',
  'title',
  'history',
  'retainReasoning',
  'storeReasoning',
  'source',
  'model',
]);

/** The rest of the options are those of `streamText`. */
function sourceOf<Tools extends ToolSet>(options: ModelAgentOptions<Tools>): AgentSource {
  const settings = Object.fromEntries(Object.entries(options).filter(([name]) => !ownOptions.has(name)));
  return modelSource(options.model, settings);
}
