import { modelSource } from '@intertie/ai-sdk';
import { createInMemoryStore, type AgentSource, type Store } from '@intertie/core';
import type { ToolSet } from 'ai';
import type { AgentDefinition } from '../execution/agent-definition.ts';
import type { AgentOptions, ModelAgentOptions } from './agent-options.ts';
import { toStore } from '../history/message-store.ts';
import { getSharedRunHost, type RunHost } from '../execution/run-host.ts';
import { getDefaultTitle } from './thread-title.ts';

/** Definition of an agent, the store of its runs, and the host that executes them in this process. */
export type AgentRuntime = { definition: AgentDefinition; store: Store; host: RunHost };

/** Applies the defaults of the options and registers the agent with its host. */
export function createAgentRuntime<Tools extends ToolSet>(options: AgentOptions<Tools>): AgentRuntime {
  const { onLoss = () => undefined, title = getDefaultTitle } = options;
  const { history = {}, retainReasoning = 'all', storeReasoning = 'all', stopOnDisconnect } = options;
  const store = toStore(options.store ?? createInMemoryStore());
  const source = options.source ?? createModelSource(options);
  const host = options.host ?? getSharedRunHost(store);
  const name = options.name ?? source.name;
  const definition: AgentDefinition = {
    name,
    source,
    title,
    history,
    retainReasoning,
    storeReasoning,
    onLoss,
    ...(stopOnDisconnect && { stopOnDisconnect }),
  };
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
  'stopOnDisconnect',
  'source',
  'model',
]);

/** Creates the source of a model agent. All options that are not the agent's own go to `streamText`. */
function createModelSource<Tools extends ToolSet>(options: ModelAgentOptions<Tools>): AgentSource {
  const settings = Object.fromEntries(Object.entries(options).filter(([name]) => !ownOptions.has(name)));
  return modelSource(options.model, settings);
}
