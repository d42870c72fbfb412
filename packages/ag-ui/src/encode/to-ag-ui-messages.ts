import type { AssistantMessage, Message, ToolCall, UserMessage } from '@ag-ui/core';
import type { CanonicalMessage, Json, JsonObject, MessagePart, OnLoss, ToolResult } from '@intertie/core';
import type { FilePart, SourcePart, ToolPart } from '@intertie/core/internal';
import { featuresOf } from '../shared/ag-ui-version.ts';
import { contentPartOf } from '../shared/content-part.ts';
import { tag } from './encode-agents.ts';
import { encryptedValueOf } from '../shared/encrypted-value.ts';
import { slot } from '../shared/intertie-metadata.ts';
import { MessageGroups } from './message-groups.ts';
import { callSlot, saidSlot } from './part-metadata.ts';
import { defined, asText } from '../shared/read-fields.ts';
import { encodeToolResult } from '../shared/tool-content.ts';

export interface ToAGUIMessagesOptions {
  /** What the client speaks. Default: what all clients take. */
  protocolVersion?: string;
  /** Whether data parts are told, as activities. Default: yes. */
  activities?: boolean;
  /** Default: yes. */
  sendReasoning?: boolean;
  /** What agents say to each other. Default: no. */
  sendInternal?: boolean;
  /** The message that each call is in, where it was streamed. */
  assistants?: ReadonlyMap<string, string>;
  /** The ids of results that the client has given itself, by their calls. */
  resultIds?: ReadonlyMap<string, string>;
  /** The sub-agent that an agent's part belongs to. Default: the agent, if it is one. */
  ownerOf?: (agentId: string | undefined) => string | undefined;
  /** Is given what no message can say, so that it can be told as an event. Default: it is entered in the ledger. */
  onBeside?: (beside: UnattachedPart) => void;
  onLoss?: OnLoss;
}

/** A part of an answer that AG-UI has no message for, and the id of the message that it stands behind. */
export type UnattachedPart = { part: FilePart | SourcePart; id: string; after?: string };

/**
 * A message as AG-UI has it, which is several: each text and each reasoning is one, and so is each result. The ids are those
 * that the encoder streams, so that a client that has seen the stream recognises them.
 */
export function toAGUIMessages(message: CanonicalMessage, options: ToAGUIMessagesOptions = {}): Message[] {
  if (message.role === 'assistant') return new AssistantWriter(message, options).write();
  const { id } = message;
  const content = contentOf(message.content.parts);
  if (message.role === 'user') return [{ id, role: 'user', content }];
  if (message.role === 'system') return [{ id, role: 'system', content: plainText(message.content.parts) }];
  return message.content.parts.flatMap((part) =>
    part.type === 'tool-invocation' ? (resultOf(part, false) ?? []) : [],
  );
}

function contentOf(parts: readonly MessagePart[]): UserMessage['content'] {
  if (parts.every(({ type }) => type === 'text')) return plainText(parts);
  return parts.flatMap((part) => contentPartOf(part as unknown as Json) ?? []);
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
    const { v1, subagents } = featuresOf(options.protocolVersion);
    const { agents = {} } = message.content;
    this.#message = message;
    this.#options = options;
    this.#contentParts = v1;
    const own = (agentId = ''): string | undefined =>
      subagents && agents[agentId]?.kind === 'agent' ? agentId : undefined;
    this.#ownerOf = options.ownerOf ?? own;
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
    const more = { ...defined({ encryptedValue: encryptedValueOf(part.providerMetadata) }), ...tag(owner) };
    switch (part.type) {
      case 'text': {
        this.#groups.text(id, part);
        const said = { ...saidSlot(part, owner), ...(part.citations && { citations: part.citations }) };
        const message: AssistantMessage = { id, role: 'assistant', content: part.text, ...more, ...slot(said) };
        this.#assistants.set(id, message);
        this.#messages.push(message);
        return;
      }
      case 'reasoning':
        this.#groups.interrupt(part);
        if (this.#options.sendReasoning === false) return;
        this.#messages.push({
          id,
          role: 'reasoning',
          content: part.reasoning,
          ...more,
          ...slot(saidSlot(part, owner)),
        });
        return;
      case 'tool-invocation':
        return this.#call(part, owner);
      case 'interjection': {
        this.#groups.interrupt(part);
        const { role, name, parts } = part;
        const said = { ...slot(saidSlot(part, owner)), ...tag(owner), ...defined({ name }) };
        if (role === 'user') this.#messages.push({ id, role, content: contentOf(parts), ...said });
        else this.#messages.push({ id, role, content: plainText(parts), ...said });
        return;
      }
      case 'data':
        if (this.#options.activities === false) return;
        this.#messages.push({
          id,
          role: 'activity',
          activityType: part.name ?? 'data',
          content: activityContent(part.data),
          ...tag(owner),
        });
        return;
      case 'file':
      case 'source':
        if (this.#options.onBeside === undefined) return this.#lose(part, id);
        return this.#options.onBeside({ part, id, ...defined({ after: this.#messages.at(-1)?.id }) });
      default:
        this.#lose(part, id);
    }
  }

  #lose({ type: what }: MessagePart, id: string): void {
    const why = 'AG-UI has no message for it; it was told as an event.';
    this.#options.onLoss?.({ kind: 'unsupported', what, why, id });
  }

  #call(part: ToolPart, owner: string | undefined): void {
    const { toolCallId, toolName, providerMetadata } = part;
    const grouped = this.#groups.call(toolCallId, part);
    if (part.executor === 'provider') this.#groups.isProviders(toolCallId, part);
    const id = this.#options.assistants?.get(toolCallId) ?? grouped;
    let assistant = this.#assistants.get(id);
    if (assistant === undefined) {
      assistant = { id, role: 'assistant', ...tag(owner) };
      this.#assistants.set(id, assistant);
      this.#messages.push(assistant);
    }
    const call: ToolCall = {
      id: toolCallId,
      type: 'function',
      function: { name: toolName, arguments: argumentsOf(part) },
      ...defined({ encryptedValue: encryptedValueOf(providerMetadata) }),
      ...slot(callSlot(part, owner, providerMetadata)),
    };
    assistant.toolCalls = [...(assistant.toolCalls ?? []), call];
    const result = resultOf(part, this.#contentParts);
    if (result === undefined) return;
    // Where the client puts it: behind the message of the call, and the results that are there.
    let index = this.#messages.indexOf(assistant) + 1;
    while (this.#messages[index]?.role === 'tool') index += 1;
    const resultId = this.#options.resultIds?.get(toolCallId) ?? result.id;
    this.#messages.splice(index, 0, { ...result, id: resultId, ...tag(owner) });
  }
}

/** The ids of the results that a client has, by their calls. Those of its own tools are its own. */
export function resultIdsOf(messages: readonly Message[]): Map<string, string> {
  return new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.id]] : [])));
}

export function activityContent(data: Json): JsonObject {
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { value: data };
}

function argumentsOf({ args, argsText, state, inputEncoding }: ToolPart): string {
  if (state === 'partial-call') return argsText ?? '';
  return typeof args === 'string' && inputEncoding === 'text' ? args : JSON.stringify(args ?? null);
}

function resultOf(part: ToolPart, contentParts: boolean): Extract<Message, { role: 'tool' }> | undefined {
  const result = settledResult(part);
  if (result === undefined) return undefined;
  const { toolCallId, resultMetadata } = part;
  const { content, slot: kept, error } = encodeToolResult(result, contentParts);
  if (resultMetadata) kept.providerMetadata = resultMetadata;
  // An agent's own encrypted value goes back to it as it came.
  const encryptedValue = asText(resultMetadata?.['ag-ui']?.encryptedValue);
  const more = defined({ error, encryptedValue });
  return { id: `${toolCallId}:result`, role: 'tool', toolCallId, content, ...more, ...slot(kept) };
}

function settledResult({ state, result = null, resultContent, error }: ToolPart): ToolResult | undefined {
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
