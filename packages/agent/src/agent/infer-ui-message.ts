import type { JsonObject } from '@intertie/core';
import type { InferUITools, ToolSet, UIMessage } from 'ai';
import type { Agent } from './agent.ts';

/** What we say of a message beside its parts, under `metadata.intertie`. */
export type IntertieMetadata = { intertie?: { runId?: string; status?: string; createdAt?: string } & JsonObject };

/** The data parts that our streams bring: `data-agent` and the like. */
export type IntertieDataParts = {
  agent: { agentId: string; name: string; kind: 'agent' | 'node' | 'voice' } & JsonObject;
  state: { state: unknown };
  notice: { level: 'info' | 'warning' | 'error'; message: string } & JsonObject;
  interjection: JsonObject;
  file: JsonObject;
  event: JsonObject;
};

/** The messages of an agent as a page has them: `useChat<InferIntertieUIMessage<typeof agent>>()`. */
export type InferIntertieUIMessage<Of extends { readonly tools?: ToolSet }> = UIMessage<
  IntertieMetadata,
  IntertieDataParts,
  InferUITools<ToolsOf<Of>>
>;

type ToolsOf<Of> = Of extends Agent<infer Tools> ? Tools : ToolSet;
