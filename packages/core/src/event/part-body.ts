import type { Json, Meta } from '../json/json.ts';
import type { MessagePart } from './message.ts';

/** Executor of a tool: the model's provider, the runtime (server side), or the client (the page, the caller). */
export type Executor = 'provider' | 'runtime' | 'client';

/** Agent, step and recipients of a part. Only on the event that opens the part; deltas and ends carry the id alone. */
export type Attribution = {
  agentId?: string;
  stepId?: string;
  /** Names of the recipients, if the runtime addresses its messages. */
  to?: string[];
  /** Sent between agents. A front end shows it on request. */
  internal?: true;
  providerMetadata?: Meta;
};

/** Agent of a run. A `voice` only names a speaker; it is not a sub-agent. */
export type AgentBody = {
  name: string;
  kind: 'agent' | 'node' | 'voice';
  parentAgentId?: string;
  toolCallId?: string;
  description?: string;
  providerMetadata?: Meta;
};

/** Identity and options of a tool call. Equal on `tool-input-start` and `tool-call` of one id. */
export type CallBody = {
  toolCallId: string;
  toolName: string;
  executor?: Executor;
  dynamic?: boolean;
  title?: string;
  inputEncoding?: 'json' | 'text';
  toolMetadata?: Json;
};

/** File as bytes (base64, never a URL), as a URL, or as a provider's own reference. */
export type FileBody = { mimeType?: string; filename?: string; reasoning?: true } & (
  | { data: string; url?: never; reference?: never }
  | { url: string; data?: never; reference?: never }
  | { reference: { provider?: string; ref: string }; data?: never; url?: never }
);

export type SourceBody = {
  sourceType: 'url' | 'document';
  url?: string;
  title?: string;
  mediaType?: string;
  filename?: string;
};

/** Named value next to the text: an AG-UI activity, a UI `data-*` part, a provider's own content. */
export type DataBody = { name: string; data: Json };

/** Message from outside that arrives during a run: a steering user, a system notice between agents. */
export type InterjectionBody = { role: 'user' | 'system'; name?: string; parts: MessagePart[] };

/** Request for a decision, usually by a person. About a tool call if it has a `toolCallId`. */
export type Question = {
  questionId: string;
  kind: 'approval' | 'input';
  toolCallId?: string;
  reason?: string;
  message?: string;
  schema?: Json;
  /** Decided by a rule instead of a person. */
  automatic?: true;
  expiresAt?: string;
  providerMetadata?: Meta;
};

/** Decision on a question. */
export type Answer = {
  questionId: string;
  approved?: boolean;
  value?: Json;
  cancelled?: true;
  reason?: string;
  by?: string;
  providerMetadata?: Meta;
};
