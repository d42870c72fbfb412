import type { Json, JsonObject, MessageContent, ToolResult } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { insertResult, type AgentMessage } from '../messages/agent-messages.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { describeJsonText, type JsonText } from '../shared/json-text.ts';
import { asFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/** The decoded answer that a snapshot is applied to. */
export interface DecodedParts {
  content: MessageContent | undefined;
  /** Part of each message, by the agent's id. */
  parts: ReadonlyMap<string, string>;
  toCallId: (wireId: string) => string;
}

/**
 * Messages of the answer as `HttpAgent` would hold them, without their contents. They are stored with the answer, so that the
 * agent gets its history back as it sent it.
 */
export class AgentMessageList {
  #messages: AgentMessage[] = [];
  #byId = new Map<string, AgentMessage>();
  #byCall = new Map<string, AgentMessage>();
  #hasFields = false;

  constructor(baseline: readonly AgentMessage[]) {
    this.#set([...baseline]);
  }

  /** The messages. Undefined if each of them is one part under the agent's id, which needs no record. */
  get recorded(): AgentMessage[] | undefined {
    return this.#hasFields || !this.#messages.every(isPlain) ? this.#messages : undefined;
  }

  addPart(messageId: string, partId: string, event: Fields): void {
    const reasoning = event.type === 'REASONING_MESSAGE_START';
    this.#hasFields ||= event.metadata !== undefined;
    const message = this.#byId.get(messageId);
    if (message) (message.parts ??= []).push(partId);
    else
      this.#add({
        id: messageId,
        parts: [partId],
        ...(reasoning && { reasoning }),
        ...readFields({ name: event.name }),
      });
  }

  /** Adds a call to its parent, or to a message of its own. `wireId`: the agent's id of the call. */
  addCall(toolCallId: string, wireId: string, parentMessageId: unknown): void {
    if (this.#byCall.has(toolCallId)) return;
    const parentId = asNonEmptyText(parentMessageId);
    const parent = this.#byId.get(parentId ?? '');
    if (parent === undefined || parent.result !== undefined || parent.reasoning) {
      return this.#add({ id: parent === undefined ? (parentId ?? wireId) : wireId, calls: [toolCallId] });
    }
    (parent.calls ??= []).push(toolCallId);
    this.#byCall.set(toolCallId, parent);
  }

  /** Records how the arguments of a call are written. */
  setArguments(toolCallId: string, input: Json, text: string): void {
    const message = this.#byCall.get(toolCallId);
    if (message) addJson(message, toolCallId, describeJsonText(input, text));
  }

  addResult(messageId: string | undefined, toolCallId: string, result: ToolResult, content: unknown): void {
    const message: AgentMessage & { result: string } = { id: messageId ?? `${toolCallId}:result`, result: toolCallId };
    if (typeof content === 'string') addJson(message, toolCallId, describeResult(result, content));
    insertResult(this.#messages, message);
    this.#byId.set(message.id, message);
  }

  /** Finds the parts that the snapshot has under new ids, by the agent's id: same text, and the old id is gone. */
  findRenamed(messages: readonly Fields[], { content, parts }: DecodedParts): Map<string, string[]> {
    const ids = new Set(messages.map(({ id }) => id));
    const texts = new Map(content?.parts.map((part) => [part.id, getText(part)]));
    const free = this.#messages.filter((message) => message.parts && message.parts.length > 0 && !ids.has(message.id));
    const renamed = new Map<string, string[]>();
    for (const { id, role, content: text } of messages) {
      const wanted = asText(text)?.trim();
      if (typeof id !== 'string' || parts.has(id) || !wanted || (role !== 'assistant' && role !== 'reasoning'))
        continue;
      const index = free.findIndex(
        (message) =>
          (message.reasoning ?? false) === (role === 'reasoning') &&
          message
            .parts!.map((part) => texts.get(part) ?? '')
            .join('')
            .trim() === wanted,
      );
      if (index === -1) continue;
      renamed.set(id, free[index]!.parts!);
      free.splice(index, 1);
    }
    return renamed;
  }

  /** Applies a snapshot like `HttpAgent`: known messages keep their place, new ones are appended, all others are removed. */
  replace(snapshot: readonly Fields[], renamed: ReadonlyMap<string, string[]>, decoded: DecodedParts): void {
    const messages = snapshot.filter(({ id, role }) => asNonEmptyText(id) && answerRoles.has(role));
    const hasReasoning = messages.some(({ role }) => role === 'reasoning');
    const calls = new Map(
      decoded.content?.parts.flatMap((part) => (part.type === 'tool-invocation' ? [[part.toolCallId, part]] : [])),
    );
    const replaced = new Map(
      messages.map((message) => {
        const id = message.id as string;
        const part = decoded.parts.get(id);
        const parts = renamed.get(id) ?? this.#byId.get(id)?.parts ?? (part === undefined ? [] : [part]);
        return [id, toAgentMessage(message, parts, { calls, toCallId: decoded.toCallId })];
      }),
    );
    const kept = this.#messages.filter(({ id, reasoning }) => replaced.has(id) || (reasoning && !hasReasoning));
    const added = [...replaced.values()].filter(({ id }) => !this.#byId.has(id));
    this.#set([...kept.map((message) => replaced.get(message.id) ?? message), ...added]);
  }

  #set(messages: AgentMessage[]): void {
    this.#messages = [];
    this.#byId.clear();
    this.#byCall.clear();
    for (const message of messages) this.#add(message);
  }

  #add(message: AgentMessage): void {
    this.#messages.push(message);
    this.#byId.set(message.id, message);
    for (const call of message.calls ?? []) this.#byCall.set(call, message);
  }
}

/** Whether a message is one part under the same id. */
function isPlain({ id, parts, calls, result, fields }: AgentMessage): boolean {
  return parts?.length === 1 && parts[0] === id && calls === undefined && result === undefined && fields === undefined;
}

const answerRoles: ReadonlySet<unknown> = new Set(['assistant', 'reasoning', 'tool']);

function toAgentMessage(
  message: Fields,
  parts: string[],
  { calls, toCallId }: { calls: ReadonlyMap<string, ToolPart>; toCallId: DecodedParts['toCallId'] },
): AgentMessage {
  const made: AgentMessage = { id: message.id as string, ...readFields(message) };
  if (message.role === 'tool') {
    made.result = toCallId(String(message.toolCallId));
    const part = calls.get(made.result);
    if (part && typeof message.content === 'string') {
      const result: ToolResult = part.error
        ? { status: 'error', error: part.error }
        : { status: 'ok', output: part.result ?? null };
      addJson(made, made.result, describeResult(result, message.content));
    }
    return made;
  }
  if (message.role === 'reasoning') made.reasoning = true;
  if (typeof message.content === 'string') made.parts = message.content === '' ? [] : parts;
  const toolCalls = Array.isArray(message.toolCalls) ? message.toolCalls.map(asFields) : [];
  if (toolCalls.length > 0) made.calls = toolCalls.map(({ id }) => toCallId(String(id)));
  for (const call of toolCalls) {
    const toolCallId = toCallId(String(call.id));
    const text = asFields(call.function).arguments;
    const part = calls.get(toolCallId);
    if (part && typeof text === 'string') addJson(made, toolCallId, describeJsonText(part.args ?? null, text));
  }
  return made;
}

/** Returns the fields of a message that its parts do not contain. */
function readFields(message: Fields): { fields?: JsonObject } {
  const { name, error, encryptedValue, metadata } = message;
  const { [metadataKey]: _, ...foreign } = asFields(metadata);
  const fields = {
    ...(asNonEmptyText(name) !== undefined && { name }),
    ...(typeof error === 'string' && { error }),
    ...(typeof encryptedValue === 'string' && { encryptedValue }),
    ...(Object.keys(foreign).length > 0 && { metadata: foreign }),
  } as JsonObject;
  return Object.keys(fields).length > 0 ? { fields } : {};
}

function addJson(message: AgentMessage, toolCallId: string, form: JsonText | undefined): void {
  if (form !== undefined) message.json = { ...message.json, [toolCallId]: form };
}

function describeResult(result: ToolResult, content: string): JsonText | undefined {
  if (result.status === 'ok') return result.content ? undefined : describeJsonText(result.output, content);
  const message = result.status === 'error' ? result.error.message : result.reason;
  return message === content ? undefined : content;
}

function getText(part: MessageContent['parts'][number]): string | undefined {
  return part.type === 'text' ? part.text : part.type === 'reasoning' ? part.reasoning : undefined;
}
