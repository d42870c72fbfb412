import type { AssistantMessage, Message, ToolCall } from '@ag-ui/core';
import {
  applyAnswer,
  type CanonicalMessage,
  type Json,
  type JsonObject,
  type MessageContent,
  type RunInput,
} from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { toAGUIMessages, type ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { restoreJsonText, type JsonText } from '../shared/json-text.ts';
import { asFields, asNonEmptyText, isFields, isJsonObject } from '../shared/read-fields.ts';

/**
 * Message of another AG-UI agent: its id, and its contents. `parts`: texts, reasoning and interjections; empty for an empty
 * content. `reasoning`: whether its role is reasoning. `calls`: tool calls. `result`: the call that it answers. `fields`: further fields. `json`: how arguments or results are
 * written, by call.
 */
export type AgentMessage = {
  id: string;
  parts?: string[];
  reasoning?: true;
  calls?: string[];
  result?: string;
  fields?: JsonObject;
  json?: { [toolCallId: string]: JsonText };
};

/** Key of the message metadata. */
const layoutKey = 'ag-ui';

/** Returns the metadata that records the agent's messages in an answer. */
export function toLayoutMetadata(messages: readonly AgentMessage[]): JsonObject {
  return { [layoutKey]: { messages: messages as unknown as Json[] } };
}

/** Returns the agent's messages that an answer consists of, if another AG-UI agent wrote it. */
function readLayout({ metadata }: MessageContent): AgentMessage[] | undefined {
  const { messages } = asFields(metadata?.[layoutKey]);
  if (!Array.isArray(messages)) return undefined;
  return messages.flatMap((message): AgentMessage[] => {
    const { id, parts, reasoning, calls, result, fields, json } = asFields(message);
    if (asNonEmptyText(id) === undefined) return [];
    return [
      {
        id: id as string,
        // Copies, because the messages of a continued answer grow.
        ...(isTexts(parts) && { parts: [...parts] }),
        ...(reasoning === true && { reasoning }),
        ...(isTexts(calls) && { calls: [...calls] }),
        ...(typeof result === 'string' && { result }),
        ...(isFields(fields) && { fields: fields as JsonObject }),
        ...(isFields(json) && { json: json as { [toolCallId: string]: JsonText } }),
      },
    ];
  });
}

/** Returns the metadata of an answer without the record of the agent's messages. */
export function withoutLayout(metadata: JsonObject): JsonObject {
  const { [layoutKey]: own, ...rest } = metadata;
  if (!isJsonObject(own)) return metadata;
  const { messages: _, ...others } = own;
  return Object.keys(others).length > 0 ? { ...rest, [layoutKey]: others } : rest;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/**
 * Converts a message for the agent that wrote it. An answer of another AG-UI agent becomes the messages that the agent sent, as
 * `HttpAgent` holds them; all other messages are converted by `toAGUIMessages`.
 */
export function toAgentMessages(message: CanonicalMessage, options: ToAGUIMessagesOptions): Message[] {
  const messages = toAGUIMessages(message, options);
  const layout = message.role === 'assistant' ? readLayout(message.content) : undefined;
  return layout ? new AgentMessageWriter(message.content, messages).write(layout) : messages;
}

/** Returns the message that a run continues, with the tool results that it does not contain yet. */
export function toContinuedMessage(run: RunInput): CanonicalMessage | undefined {
  const { message, answers, messageId: id, threadId, startedAt } = run;
  if (message === undefined) return undefined;
  const content = answers.filter((answer) => !('questionId' in answer)).reduce<MessageContent>(applyAnswer, message);
  return { id, threadId, role: 'assistant', type: 'text', content, createdAt: new Date(startedAt) };
}

/** Returns the agent's messages in the answer that a run continues. */
export function toContinuedLayout(run: RunInput): AgentMessage[] {
  const message = toContinuedMessage(run);
  if (message === undefined) return [];
  const sent = toAGUIMessages(message, { activities: false });
  const layout = readLayout(message.content);
  return layout ? withResults(layout, sent) : sent.map(toAgentMessage);
}

/** Adds results that a layout lacks, such as those of client tools. */
function withResults(layout: readonly AgentMessage[], messages: Iterable<Message>): AgentMessage[] {
  const complete = [...layout];
  const calls = new Set(layout.flatMap((message) => message.calls ?? []));
  for (const { result } of layout) if (result !== undefined) calls.delete(result);
  for (const message of messages) {
    if (message.role !== 'tool' || !calls.has(message.toolCallId)) continue;
    insertResult(complete, { id: message.id, result: message.toolCallId });
  }
  return complete;
}

/** Returns the agent's ids of the calls in a message. */
export function readCallIds({ parts }: MessageContent): string[] {
  return parts.flatMap((part) => (part.type === 'tool-invocation' ? [getWireId(part)] : []));
}

function toAgentMessage(message: Message): AgentMessage {
  const { id } = message;
  if (message.role === 'tool') return { id, result: message.toolCallId };
  const calls = message.role === 'assistant' ? message.toolCalls?.map((call) => call.id) : undefined;
  return {
    id,
    ...(message.content !== undefined && { parts: [id] }),
    ...(message.role === 'reasoning' && { reasoning: true }),
    ...(calls && { calls }),
  };
}

/** Inserts a result after the message of its call and the results that follow it, like `HttpAgent`. */
export function insertResult(layout: AgentMessage[], message: AgentMessage & { result: string }): void {
  const owner = layout.findLastIndex(({ calls }) => calls?.includes(message.result));
  let index = owner === -1 ? layout.length : owner + 1;
  while (layout[index]?.result !== undefined) index += 1;
  layout.splice(index, 0, message);
}

type ToolMessage = Extract<Message, { role: 'tool' }>;

/** Writes the messages of a layout. Takes their contents from the messages that `toAGUIMessages` writes. */
class AgentMessageWriter {
  #callParts = new Map<string, ToolPart>();
  /** Messages of texts, reasoning and interjections, by part. */
  #parts = new Map<string, Message>();
  #calls = new Map<string, ToolCall>();
  #results = new Map<string, ToolMessage>();

  constructor({ parts }: MessageContent, messages: readonly Message[]) {
    for (const part of parts) if (part.type === 'tool-invocation') this.#callParts.set(part.toolCallId, part);
    for (const message of messages) {
      if (message.role === 'tool') this.#results.set(message.toolCallId, message);
      else this.#parts.set(message.id, message);
      if (message.role === 'assistant') for (const call of message.toolCalls ?? []) this.#calls.set(call.id, call);
    }
  }

  write(layout: readonly AgentMessage[]): Message[] {
    return withResults(layout, this.#results.values()).flatMap((message) => this.#message(message) ?? []);
  }

  #message({ id, parts, calls, result, fields, json }: AgentMessage): Message | undefined {
    if (result !== undefined) {
      const message = this.#results.get(result);
      return message && { ...this.#result(message, json?.[result]), id, ...fields };
    }
    const found = parts?.flatMap((part) => this.#parts.get(part) ?? []) ?? [];
    const first = found[0];
    if (first !== undefined && first.role !== 'assistant') return { ...toForeign(first), id, ...fields };
    const toolCalls = calls?.flatMap((call) => this.#call(call, json?.[call]) ?? []) ?? [];
    // Parts can be absent, for example reasoning that the history does not retain.
    if (found.length === 0 && toolCalls.length === 0 && (parts?.length ?? 0) > 0) return undefined;
    const content = found.map((message) => (typeof message.content === 'string' ? message.content : '')).join('');
    const { toolCalls: _, ...text } = first ?? ({} as AssistantMessage);
    return {
      ...toForeign(text),
      id,
      role: 'assistant',
      ...(parts && { content }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...fields,
    };
  }

  #call(toolCallId: string, json: JsonText | undefined): ToolCall | undefined {
    const call = this.#calls.get(toolCallId);
    const part = this.#callParts.get(toolCallId);
    if (call === undefined || part === undefined) return undefined;
    const text = json === undefined ? {} : { arguments: restoreJsonText(part.args ?? null, json) };
    return { ...toForeign(call), id: getWireId(part), function: { ...call.function, ...text } };
  }

  #result(message: ToolMessage, json: JsonText | undefined): ToolMessage {
    const part = this.#callParts.get(message.toolCallId);
    const text = json === undefined ? {} : { content: restoreJsonText(part?.result ?? null, json) };
    return { ...toForeign(message), toolCallId: part ? getWireId(part) : message.toolCallId, ...text };
  }
}

/** Returns the agent's id of a call. */
function getWireId({ toolCallId, providerMetadata }: ToolPart): string {
  return asNonEmptyText(providerMetadata?.['ag-ui']?.toolCallId) ?? toolCallId;
}

/** Replaces our metadata by the agent's own. */
function toForeign<Entity extends { metadata?: unknown }>(entity: Entity): Entity {
  const { metadata, ...rest } = entity;
  if (metadata === undefined) return entity;
  const own = asFields(asFields(asFields(asFields(metadata)[metadataKey]).providerMetadata)['ag-ui']).metadata;
  return (own === undefined ? rest : { ...rest, metadata: own }) as Entity;
}
