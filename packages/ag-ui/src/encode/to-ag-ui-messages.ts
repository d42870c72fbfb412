import type { AssistantMessage, Message, ToolCall, UserMessage } from '@ag-ui/core';
import type { CanonicalMessage, Json, JsonObject, MessagePart, OnLoss, ToolResult } from '@intertie/core';
import type { FilePart, SourcePart, ToolPart } from '@intertie/core/internal';
import { getFeatures } from '../shared/ag-ui-version.ts';
import { toContentPart } from '../shared/content-part.ts';
import { ownerField } from './encode-agents.ts';
import { toEncryptedValue } from '../shared/encrypted-value.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
import { MessageGroups } from './message-groups.ts';
import { callMetadata, partMetadata } from './part-metadata.ts';
import { defined, asText } from '../shared/read-fields.ts';
import { encodeToolResult } from '../shared/tool-content.ts';

export interface ToAGUIMessagesOptions {
  /** Protocol version of the client. Default: output that works for all versions. */
  protocolVersion?: string;
  /** Whether data parts are converted to activities. Default: true. */
  activities?: boolean;
  /** Default: true. */
  sendReasoning?: boolean;
  /** Whether messages between agents are included. Default: false. */
  sendInternal?: boolean;
  /** Id of the assistant message of each call, if it was streamed. */
  assistants?: ReadonlyMap<string, string>;
  /** Ids of results that the client gave, by call. */
  resultIds?: ReadonlyMap<string, string>;
  /** Returns the sub-agent that owns a part of an agent. Default: the agent, if it is one. */
  getOwner?: (agentId: string | undefined) => string | undefined;
  /** Receives files and sources, which no AG-UI message can carry. Default: they are reported as a loss. */
  onUnattached?: (part: UnattachedPart) => void;
  onLoss?: OnLoss;
}

/** Part of an answer that AG-UI has no message for, and the id of the message that it follows. */
export type UnattachedPart = { part: FilePart | SourcePart; id: string; after?: string };
/**
 * Converts a message to AG-UI messages: one per text, reasoning and tool result. The ids equal those that the encoder streams,
 * so a client recognises messages that it has seen.
 */
export function toAGUIMessages(message: CanonicalMessage, options: ToAGUIMessagesOptions = {}): Message[] {
  if (message.role === 'assistant') return new AssistantWriter(message, options).write();
  const { id } = message;
  const content = toContent(message.content.parts);
  if (message.role === 'user') return [{ id, role: 'user', content }];
  if (message.role === 'system') return [{ id, role: 'system', content: plainText(message.content.parts) }];
  return message.content.parts.flatMap((part) =>
    part.type === 'tool-invocation' ? (toToolMessage(part, false) ?? []) : [],
  );
}

function toContent(parts: readonly MessagePart[]): UserMessage['content'] {
  if (parts.every(({ type }) => type === 'text')) return plainText(parts);
  return parts.flatMap((part) => toContentPart(part as unknown as Json) ?? []);
}

function plainText(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

class AssistantWriter {
  #message: CanonicalMessage;
  #options: ToAGUIMessagesOptions;
  #contentParts: boolean;
  #ownerOf: (agentId: string | undefined) => string | undefined;
  #groups = new MessageGroups();
  #messages: Message[] = [];
  #assistants = new Map<string, AssistantMessage>();

  constructor(message: CanonicalMessage, options: ToAGUIMessagesOptions) {
    const { v1, subagents } = getFeatures(options.protocolVersion);
    const { agents = {} } = message.content;
    this.#message = message;
    this.#options = options;
    this.#contentParts = v1;
    const own = (agentId = ''): string | undefined =>
      subagents && agents[agentId]?.kind === 'agent' ? agentId : undefined;
    this.#ownerOf = options.getOwner ?? own;
  }

  write(): Message[] {
    for (const [index, part] of this.#message.content.parts.entries()) {
      if (part.internal && !this.#options.sendInternal) continue;
      this.#part(part, part.id ?? `${this.#message.id}:${index}`);
    }
    return this.#messages;
  }

  #part(part: MessagePart, id: string): void {
    const owner = this.#ownerOf(part.agentId);
    const fields = { ...defined({ encryptedValue: toEncryptedValue(part.providerMetadata) }), ...ownerField(owner) };
    switch (part.type) {
      case 'text': {
        this.#groups.text(id, part);
        const attribution = { ...partMetadata(part, owner), ...(part.citations && { citations: part.citations }) };
        const message: AssistantMessage = {
          id,
          role: 'assistant',
          content: part.text,
          ...fields,
          ...toMetadata(attribution),
        };
        this.#assistants.set(id, message);
        this.#messages.push(message);
        return;
      }
      case 'reasoning':
        this.#groups.startNewMessage(part);
        if (this.#options.sendReasoning === false) return;
        this.#messages.push({
          id,
          role: 'reasoning',
          content: part.reasoning,
          ...fields,
          ...toMetadata(partMetadata(part, owner)),
        });
        return;
      case 'tool-invocation':
        return this.#call(part, owner);
      case 'interjection': {
        this.#groups.startNewMessage(part);
        const { role, name, parts } = part;
        const attribution = { ...toMetadata(partMetadata(part, owner)), ...ownerField(owner), ...defined({ name }) };
        if (role === 'user') this.#messages.push({ id, role, content: toContent(parts), ...attribution });
        else this.#messages.push({ id, role, content: plainText(parts), ...attribution });
        return;
      }
      case 'data':
        if (this.#options.activities === false) return;
        this.#messages.push({
          id,
          role: 'activity',
          activityType: part.name ?? 'data',
          content: toActivityContent(part.data),
          ...ownerField(owner),
        });
        return;
      case 'file':
      case 'source':
        if (this.#options.onUnattached === undefined) return this.#lose(part, id);
        return this.#options.onUnattached({ part, id, ...defined({ after: this.#messages.at(-1)?.id }) });
      default:
        this.#lose(part, id);
    }
  }

  #lose({ type: what }: MessagePart, id: string): void {
    const why = 'AG-UI has no message for it. The stream carried it as an event.';
    this.#options.onLoss?.({ kind: 'unsupported', what, why, id });
  }

  #call(part: ToolPart, owner: string | undefined): void {
    const { toolCallId, toolName, providerMetadata } = part;
    const grouped = this.#groups.call(toolCallId, part);
    if (part.executor === 'provider') this.#groups.markProviderExecuted(toolCallId, part);
    const id = this.#options.assistants?.get(toolCallId) ?? grouped;
    let assistant = this.#assistants.get(id);
    if (assistant === undefined) {
      assistant = { id, role: 'assistant', ...ownerField(owner) };
      this.#assistants.set(id, assistant);
      this.#messages.push(assistant);
    }
    const call: ToolCall = {
      id: toolCallId,
      type: 'function',
      function: { name: toolName, arguments: toArgumentsText(part) },
      ...defined({ encryptedValue: toEncryptedValue(providerMetadata) }),
      ...toMetadata(callMetadata(part, owner, providerMetadata)),
    };
    assistant.toolCalls = [...(assistant.toolCalls ?? []), call];
    const result = toToolMessage(part, this.#contentParts);
    if (result === undefined) return;
    // Clients insert a result after the message of its call and the results that follow it.
    let index = this.#messages.indexOf(assistant) + 1;
    while (this.#messages[index]?.role === 'tool') index += 1;
    const resultId = this.#options.resultIds?.get(toolCallId) ?? result.id;
    this.#messages.splice(index, 0, { ...result, id: resultId, ...ownerField(owner) });
  }
}

/** Returns the ids of the tool results that a client has, by call. The client chooses the ids of its own results. */
export function getResultIds(messages: readonly Message[]): Map<string, string> {
  return new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.id]] : [])));
}

/** Wraps values that are not objects: the content of an activity is always an object. */
export function toActivityContent(data: Json): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { value: data };
}

function toArgumentsText({ args, argsText, state, inputEncoding }: ToolPart): string {
  if (state === 'partial-call') return argsText ?? '';
  return typeof args === 'string' && inputEncoding === 'text' ? args : JSON.stringify(args ?? null);
}

function toToolMessage(part: ToolPart, contentParts: boolean): Extract<Message, { role: 'tool' }> | undefined {
  const result = toToolResult(part);
  if (result === undefined) return undefined;
  const { toolCallId, resultMetadata } = part;
  const { content, metadata: extra, error } = encodeToolResult(result, contentParts);
  if (resultMetadata) extra.providerMetadata = resultMetadata;
  // An agent gets its own encrypted value back unchanged.
  const encryptedValue = asText(resultMetadata?.['ag-ui']?.encryptedValue);
  const fields = defined({ error, encryptedValue });
  return { id: `${toolCallId}:result`, role: 'tool', toolCallId, content, ...fields, ...toMetadata(extra) };
}

function toToolResult({ state, result = null, resultContent, error }: ToolPart): ToolResult | undefined {
  switch (state) {
    case 'result':
      return { status: 'ok', output: result, ...(resultContent && { content: true }) };
    case 'error':
      return { status: 'error', error: error ?? { message: 'The tool failed.' } };
    case 'denied':
      return { status: 'denied', ...(error && { reason: error.message }) };
    default:
      return undefined;
  }
}
