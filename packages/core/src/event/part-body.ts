import type { Json, Meta } from '../json/json.ts';
import type { MessagePart } from './message.ts';

/** Who runs a tool: the model's provider, the runtime (our side), or the client (the page, the caller). */
export type Executor = 'provider' | 'runtime' | 'client';

/** Who and where. Said once, on the event that opens a part (or is one); deltas and ends carry the id alone. */
export type Attribution = {
  agentId?: string;
  stepId?: string;
  /** Names of those it was addressed to, where a runtime addresses its messages. */
  to?: string[];
  /** Said between agents; a front end shows it on request. */
  internal?: true;
  providerMetadata?: Meta;
};

/** Who works. A `voice` is a mere speaker's name, not a sub-agent. */
export type AgentBody = {
  name: string;
  kind: 'agent' | 'node' | 'voice';
  parentAgentId?: string;
  toolCallId?: string;
  description?: string;
  providerMetadata?: Meta;
};

/** How a tool is called. The same on `tool-input-start` and `tool-call` of one id. */
export type CallBody = {
  toolCallId: string;
  toolName: string;
  executor?: Executor;
  dynamic?: boolean;
  title?: string;
  inputEncoding?: 'json' | 'text';
  toolMetadata?: Json;
};

/** A file by its bytes (base64, never a URL), by its URL, or by a provider's own reference. */
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

/** A named value beside the text: an AG-UI activity, a UI `data-*` part, a provider's own content. */
export type DataBody = { name: string; data: Json };

/** Another's words inside a run: a steering user, a system notice between agents. */
export type InterjectionBody = { role: 'user' | 'system'; name?: string; parts: MessagePart[] };

/** Something a person decides. About a tool call if `toolCallId` is there, otherwise about nothing but itself. */
export type Question = {
  questionId: string;
  kind: 'approval' | 'input';
  toolCallId?: string;
  reason?: string;
  message?: string;
  schema?: Json;
  /** Decided by a rule, not by a person. */
  automatic?: true;
  expiresAt?: string;
  providerMetadata?: Meta;
};

export type Answer = {
  questionId: string;
  approved?: boolean;
  value?: Json;
  cancelled?: true;
  reason?: string;
  by?: string;
  providerMetadata?: Meta;
};
