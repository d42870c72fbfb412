import type { CanonicalMessage, Json, JsonObject, MessagePart, Meta, OnLoss, ToolResult } from '@intertie/core';
import type { Attribution, ToolPart } from '@intertie/core/internal';
import { readContent } from '../shared/content-part.ts';
import { withEncryptedValue } from '../shared/encrypted-value.ts';
import { slotKey } from '../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';
import { readToolMessage, resultMetaOf } from './read-tool-message.ts';

export interface ReadAGUIMessagesOptions {
  threadId?: string;
  /** Of messages, which do not say when they were made. Default: the beginning of time, since nothing here reads a clock. */
  createdAt?: Date;
  onLoss?: OnLoss;
}

/**
 * AG-UI messages as canonical ones. All that an agent has said between two messages of the user is one answer, and each
 * result joins its call. Never throws; what it cannot read is reported and left out.
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
        const { said, meta } = saidOf(message);
        const reasoning = asText(message.content) ?? '';
        this.#answer(id, said).push({
          type: 'reasoning',
          id,
          reasoning,
          ...said,
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
          why: 'It is not for a model.',
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

  /** The parts of the answer that is being read. */
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
    const { said, meta, kept } = saidOf(message);
    const calls: unknown[] = Array.isArray(message.toolCalls) ? message.toolCalls : [];
    const text = asText(message.content) ?? this.#plain(message.content, id);
    const parts = this.#answer(id, said);
    if (text !== '') {
      const citations = Array.isArray(kept.citations) ? kept.citations : undefined;
      parts.push({ type: 'text', id, text, ...said, ...defined({ citations, providerMetadata: meta }) });
    }
    for (const call of calls) this.#call(asFields(call), said, id);
  }

  #plain(content: unknown, id: string): string {
    return readContent(content, id, this.#onLoss)
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('');
  }

  #call(call: Fields, owner: Attribution, messageId: string): void {
    const toolCallId = asNonEmptyText(call.id);
    const { name, arguments: text } = asFields(call.function);
    if (toolCallId === undefined || asNonEmptyText(name) === undefined || this.#calls.has(toolCallId)) {
      const why = 'A call has an id of its own and the name of its tool.';
      return this.#onLoss({ kind: 'repaired', what: 'tool call', why, id: toolCallId ?? messageId });
    }
    const { said, meta, kept } = saidOf(call);
    const { executor, inputEncoding, dynamic, title } = kept;
    const part: ToolPart = {
      type: 'tool-invocation',
      toolCallId,
      toolName: String(name),
      state: 'call',
      ...argumentsOf(asText(text) ?? '', inputEncoding === 'text'),
      ...owner,
      ...said,
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
      const why = part ? 'The call had its result already.' : 'There is no call of that id.';
      return this.#onLoss({ kind: 'repaired', what: 'tool message', why, id });
    }
    const result = readToolMessage(message, id, this.#onLoss);
    // Nobody answered it; what the model is told of that is for whoever repairs the history.
    if (result === undefined) return void (part.executor ??= 'runtime');
    const meta = resultMetaOf(message);
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

/** The input that the arguments' text is the JSON of. What is no JSON is kept as it is: the call was never run. */
function argumentsOf(text: string, isText: boolean): Pick<ToolPart, 'args' | 'invalid'> {
  if (isText) return { args: text };
  if (text.trim() === '') return { args: {} };
  try {
    return { args: JSON.parse(text) as Json };
  } catch {
    return { args: text, invalid: true };
  }
}

/** Who said it, as far as the client kept it for us. A client may send anything, so every field is checked. */
function saidOf(entity: Fields): { said: Attribution; meta: Meta | undefined; kept: JsonObject } {
  const kept = asFields(asFields(entity.metadata)[slotKey]) as JsonObject;
  const agentId = asNonEmptyText(kept.agentId) ?? asNonEmptyText(entity.subagentRunId);
  const to = Array.isArray(kept.to) && kept.to.every((name) => typeof name === 'string') ? kept.to : undefined;
  const said: Attribution = {
    ...defined({ agentId, stepId: asNonEmptyText(kept.stepId), to }),
    ...(kept.internal === true && { internal: true }),
  };
  const open = isFields(kept.providerMetadata) ? (kept.providerMetadata as Meta) : undefined;
  return { said, meta: withEncryptedValue(open, entity.encryptedValue), kept };
}
