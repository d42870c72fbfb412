import type { JsonObject } from '@intertie/core';
import type { InferUITools, ToolSet, UIMessage } from 'ai';
import type { Agent } from './agent.ts';

/** Metadata that Intertie adds to a UI message under `metadata.intertie`. */
export type IntertieMetadata = { intertie?: { runId?: string; status?: string; createdAt?: string } & JsonObject };

/** Data parts of Intertie's UI message streams: `data-agent` and so on. */
export type IntertieDataParts = {
  agent: { agentId: string; name: string; kind: 'agent' | 'node' | 'voice' } & JsonObject;
  state: { state: unknown };
  notice: { level: 'info' | 'warning' | 'error'; message: string } & JsonObject;
  interjection: JsonObject;
  file: JsonObject;
  event: JsonObject;
};

/** UI message type of an agent: `useChat<InferIntertieUIMessage<typeof agent>>()`. */
export type InferIntertieUIMessage<Of extends { readonly tools?: ToolSet }> = UIMessage<
  IntertieMetadata,
  IntertieDataParts,
  InferUITools<ToolsOf<Of>>
>;

type ToolsOf<Of> = Of extends Agent<infer Tools> ? Tools : ToolSet;
