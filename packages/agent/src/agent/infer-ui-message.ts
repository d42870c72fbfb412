import type { JsonObject } from '@intertie/core';
import type { InferUITools, ToolSet, UIMessage } from 'ai';

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

/**
 * UI message type of an agent, or of an object with its tools: `useChat<InferIntertieUIMessage<typeof agent>>()`,
 * `InferIntertieUIMessage<{ tools: typeof tools }>`.
 */
export type InferIntertieUIMessage<Of extends { readonly tools?: ToolSet }> = UIMessage<
  IntertieMetadata,
  IntertieDataParts,
  InferUITools<NonNullable<Of['tools']>>
>;
