import type { CanonicalMessage, Json, JsonObject, MessagePart, Meta, OnLoss, ToolResult } from '@intertie/core';
import type { Attribution, ToolPart } from '@intertie/core/internal';
import { readContent } from '../shared/content-part.ts';
import { withEncryptedValue } from '../shared/encrypted-value.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';
import { readToolMessage, readResultMeta } from './read-tool-message.ts';

export interface ReadAGUIMessagesOptions {
  threadId?: string;
  /** Creation date of the messages. Default: 1970-01-01, so that the result does not depend on the clock. */
  createdAt?: Date;
  onLoss?: OnLoss;
}

/**
 * Converts AG-UI messages to canonical ones. All agent messages between two user messages become one message, and each result
 * joins its call. Never throws; unreadable content is reported and left out.
 */
export function readAGUIMessages(
  messages: readonly unknown[],
  options: ReadAGUIMessagesOptions = {},
): CanonicalMessage[] {
  const reader = new AGUIMessageReader(options);
  for (const [index, message] of messages.entries()) reader.read(asFields(message), index);
  return reader.messages;
}

class AGUIMessageReader {
  readonly messages: CanonicalMessage[] = [];
  #options: ReadAGUIMessagesOptions;
  #onLoss: OnLoss;
  #calls = new Map<string, ToolPart>();

  constructor(options: ReadAGUIMessagesOptions) {
    this.#options = options;
    this.#onLoss = options.onLoss ?? (() => undefined);
  }

  read(message: Fields, index: number): void {
    const id = asNonEmptyText(message.id) ?? `${this.#options.threadId ?? 'message'}:${index}`;
    switch (message.role) {
      case 'system':
      case 'developer':
        return this.#add('system', id, readContent(message.content, id, this.#onLoss));
      case 'user':
        return this.#add('user', id, readContent(message.content, id, this.#onLoss));
      case 'assistant':
        return this.#assistant(message, id);
      case 'reasoning': {
        const { attribution, meta } = readAttribution(message);
        const reasoning = asText(message.content) ?? '';
        this.#answer(id, attribution).push({
          type: 'reasoning',
          id,
          reasoning,
          ...attribution,
          ...defined({ providerMetadata: meta }),
        });
        return;
      }
      case 'tool':
        return this.#result(message, id);
      default:
        this.#onLoss({
          kind: 'unsupported',
          what: `message of role ${String(message.role)}`,
          why: 'Messages of this role are not sent to models.',
          id,
        });
    }
  }

  #add(role: 'user' | 'system', id: string, parts: MessagePart[]): void {
    this.messages.push(this.#message(role, id, parts));
  }

  #message(role: CanonicalMessage['role'], id: string, parts: MessagePart[]): CanonicalMessage {
    const { threadId = '', createdAt = new Date(0) } = this.#options;
    const parentId = this.messages.at(-1)?.id;
    return { id, threadId, role, type: 'text', content: { format: 2, parts }, createdAt, ...defined({ parentId }) };
  }

  /** Returns the parts of the current assistant message. */
  #answer(id: string, { agentId, stepId }: Attribution): MessagePart[] {
    let message = this.messages.at(-1);
    if (message?.role !== 'assistant') {
      message = this.#message('assistant', id, []);
      this.messages.push(message);
    }
    const { content } = message;
    if (agentId !== undefined) (content.agents ??= {})[agentId] ??= { name: agentId, kind: 'agent' };
    if (stepId !== undefined) (content.steps ??= {})[stepId] ??= {};
    return content.parts;
  }

  #assistant(message: Fields, id: string): void {
    const { attribution, meta, extra } = readAttribution(message);
    const calls: unknown[] = Array.isArray(message.toolCalls) ? message.toolCalls : [];
    const text = asText(message.content) ?? this.#toPlainText(message.content, id);
    const parts = this.#answer(id, attribution);
    if (text !== '') {
      const citations = Array.isArray(extra.citations) ? extra.citations : undefined;
      parts.push({ type: 'text', id, text, ...attribution, ...defined({ citations, providerMetadata: meta }) });
    }
    for (const call of calls) this.#call(asFields(call), attribution, id);
  }

  #toPlainText(content: unknown, id: string): string {
    return readContent(content, id, this.#onLoss)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
  }

  #call(call: Fields, owner: Attribution, messageId: string): void {
    const toolCallId = asNonEmptyText(call.id);
    const { name, arguments: text } = asFields(call.function);
    if (toolCallId === undefined || asNonEmptyText(name) === undefined || this.#calls.has(toolCallId)) {
      const why = 'A call must have a unique id and the name of its tool.';
      return this.#onLoss({ kind: 'repaired', what: 'tool call', why, id: toolCallId ?? messageId });
    }
    const { attribution, meta, extra } = readAttribution(call);
    const { executor, inputEncoding, dynamic, title } = extra;
    const part: ToolPart = {
      type: 'tool-invocation',
      toolCallId,
      toolName: String(name),
      state: 'call',
      ...parseArguments(asText(text) ?? '', inputEncoding === 'text'),
      ...owner,
      ...attribution,
      ...((executor === 'provider' || executor === 'runtime' || executor === 'client') && { executor }),
      ...((inputEncoding === 'json' || inputEncoding === 'text') && { inputEncoding }),
      ...(typeof dynamic === 'boolean' && { dynamic }),
      ...defined({ title: asText(title), providerMetadata: meta }),
    };
    this.#calls.set(toolCallId, part);
    this.#answer(messageId, part).push(part);
  }

  #result(message: Fields, id: string): void {
    const part = this.#calls.get(String(message.toolCallId));
    if (part === undefined || part.state !== 'call') {
      const why = part ? 'The call already has a result.' : 'No call has this id.';
      return this.#onLoss({ kind: 'repaired', what: 'tool message', why, id });
    }
    const result = readToolMessage(message, id, this.#onLoss);
    // Unsettled. Marked as not the client's, so that the history repair adds a result for the model.
    if (result === undefined) return void (part.executor ??= 'runtime');
    const meta = readResultMeta(message);
    if (meta) part.resultMetadata = meta;
    settle(part, result);
  }
}

function settle(part: ToolPart, result: ToolResult): void {
  switch (result.status) {
    case 'denied':
      part.state = 'denied';
      if (result.reason !== undefined) part.error = { message: result.reason };
      return;
    case 'error':
      part.state = 'error';
      part.error = result.error;
      return;
    case 'ok':
      part.state = 'result';
      part.result = result.output;
      if (result.content) part.resultContent = true;
  }
}

/** Parses the arguments of a call. Invalid JSON is kept as text: the call was never executed. */
function parseArguments(text: string, isText: boolean): Pick<ToolPart, 'args' | 'invalid'> {
  if (isText) return { args: text };
  if (text.trim() === '') return { args: {} };
  try {
    return { args: JSON.parse(text) as Json };
  } catch {
    return { args: text, invalid: true };
  }
}

/** Reads the attribution that the client kept for us. Every field is checked, because clients may send anything. */
function readAttribution(entity: Fields): { attribution: Attribution; meta: Meta | undefined; extra: JsonObject } {
  const extra = asFields(asFields(entity.metadata)[metadataKey]) as JsonObject;
  const agentId = asNonEmptyText(extra.agentId) ?? asNonEmptyText(entity.subagentRunId);
  const to = Array.isArray(extra.to) && extra.to.every((name) => typeof name === 'string') ? extra.to : undefined;
  const attribution: Attribution = {
    ...defined({ agentId, stepId: asNonEmptyText(extra.stepId), to }),
    ...(extra.internal === true && { internal: true }),
  };
  const open = isFields(extra.providerMetadata) ? (extra.providerMetadata as Meta) : undefined;
  return { attribution, meta: withEncryptedValue(open, entity.encryptedValue), extra };
}
