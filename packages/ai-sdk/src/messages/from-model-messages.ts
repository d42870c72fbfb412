import type {
  CanonicalMessage,
  Json,
  JsonObject,
  MessageContent,
  MessagePart,
  MessageRole,
  Meta,
  OnLoss,
} from '@intertie/core';
import { mergeMeta, toJson, type FilePart, type InterjectionPart, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion } from '@intertie/core/store';
import { parseQuestion, toApproval } from '../shared/ai-sdk-approval.ts';
import { parseFileBody } from '../shared/file-body.ts';
import { parseIdentity, splitMetadata } from '../shared/intertie-metadata.ts';
import { lateResult } from './late-results.ts';
import { decodeToolOutput } from './model-tool-output.ts';
import { toProviderDataName } from '../shared/provider-data.ts';
import {
  parseDate,
  defined,
  asFields,
  isFields,
  toKey,
  parseMetadata,
  asNonEmptyText,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import { decodeUserContent } from '../shared/user-content.ts';

export interface FromModelMessagesOptions {
  threadId: string;
  /** Of messages that do not say when they were made. Default: the beginning of time, since nothing here reads a clock. */
  createdAt?: Date;
  /** Ids for messages that have none. Default: the thread's id and the message's place, so that importing twice is harmless. */
  generateId?: () => string;
  onLoss?: OnLoss;
}

/**
 * Model messages as canonical ones. The assistant and tool messages of one answer become one message, its turns are steps,
 * and each result joins its call. Never throws; what it cannot read is reported and left out.
 */
export function fromModelMessages(messages: readonly unknown[], options: FromModelMessagesOptions): CanonicalMessage[] {
  const reader = new ModelMessageReader(options);
  for (const [index, message] of messages.entries()) reader.read(message, index);
  return reader.messages;
}

/** The answer that is being put together. `isOurs`: its parts name their steps. */
type Answer = { message: CanonicalMessage; parts: MessagePart[]; isOurs: boolean; turns: number };

class ModelMessageReader {
  readonly messages: CanonicalMessage[] = [];
  #options: FromModelMessagesOptions;
  #onLoss: OnLoss;
  #answer: Answer | undefined;
  /** Every call so far: a result may come in a later message. */
  #calls = new Map<string, ToolPart>();
  #approvals = new Map<string, ToolPart>();

  constructor(options: FromModelMessagesOptions) {
    this.#options = options;
    this.#onLoss = options.onLoss ?? (() => undefined);
  }

  read(value: unknown, index: number): void {
    const message = asFields(value);
    const { intertie, meta } = splitMetadata(parseMetadata(message.providerOptions, this.#onLoss));
    switch (message.role) {
      case 'system':
        this.#add('system', decodeUserContent(message.content, this.#onLoss), index, intertie, meta);
        return;
      case 'user': {
        const parts = decodeUserContent(message.content, this.#onLoss);
        if (isFields(intertie.interjection)) {
          const more = meta ? { providerMetadata: meta } : {};
          const interjection = { ...interjectionOf(intertie.interjection, parts), ...more };
          this.#openAnswer(index, intertie).parts.push(interjection);
        } else this.#add('user', parts, index, intertie, meta);
        return;
      }
      case 'assistant':
        if (meta) {
          const why = 'Our messages are whole answers, and have no place for the options of one turn.';
          this.#onLoss({ kind: 'unsupported', what: 'providerOptions', why });
        }
        return this.#assistant(message.content, index, intertie);
      case 'tool':
        for (const part of Array.isArray(message.content) ? message.content : []) this.#result(asFields(part));
        return;
      default: {
        const why = `Number ${index} has no role that we know (system, user, assistant, tool), and was left out.`;
        this.#onLoss({ kind: 'unsupported', what: 'message', why });
      }
    }
  }

  #add(role: MessageRole, parts: MessagePart[], index: number, intertie: JsonObject, meta?: Meta): void {
    const { threadId, createdAt = new Date(0), generateId } = this.#options;
    const id = asNonEmptyText(intertie.messageId) ?? generateId?.() ?? `${threadId}:${index}`;
    const content: MessageContent = { format: 2, parts, ...(meta && { providerMetadata: meta }) };
    const parentId = this.messages.at(-1)?.id;
    const message: CanonicalMessage = {
      id,
      threadId,
      role,
      type: 'text',
      content,
      createdAt: parseDate(intertie.createdAt) ?? createdAt,
      ...defined({ parentId }),
    };
    this.messages.push(message);
    this.#answer =
      role === 'assistant' ? { message, parts, isOurs: intertie.messageId !== undefined, turns: 0 } : undefined;
  }

  /** The answer that is open, unless the message says that it is of another one. */
  #openAnswer(index: number, intertie: JsonObject): Answer {
    const isOther = intertie.messageId !== undefined && this.#answer?.message.id !== intertie.messageId;
    if (this.#answer === undefined || isOther) this.#add('assistant', [], index, intertie);
    return this.#answer!;
  }

  #assistant(content: unknown, index: number, intertie: JsonObject): void {
    const answer = this.#openAnswer(index, intertie);
    const values =
      typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
    const stepId = answer.isOurs ? undefined : this.#mintStep(answer);
    for (const value of values) {
      const fields = asFields(value);
      const part = this.#part(fields);
      if (fields.type === 'tool-result') this.#placeResult(fields, answer, stepId);
      if (part === undefined) continue;
      const placed = stepId === undefined ? part : { ...part, stepId };
      answer.parts.push(placed);
      if (placed.type === 'tool-invocation') this.#calls.set(toKey(fields.toolCallId), placed);
    }
  }

  /** Records where the result of a provider's tool is, unless that is right after its call. */
  #placeResult(part: Fields, { parts }: Answer, stepId: string | undefined): void {
    const call = this.#calls.get(toKey(part.toolCallId));
    const last = parts.at(-1);
    if (call?.executor !== 'provider' || call.resultMetadata?.['ai-sdk']?.['place'] !== undefined || !last) return;
    const lastId = last.type === 'tool-invocation' ? last.toolCallId : last.id;
    const after = last === call ? undefined : lastId;
    const isLater = stepId !== undefined && stepId !== call.stepId;
    if (after === undefined && !isLater) return;
    call.resultMetadata = mergeMeta(call.resultMetadata, lateResult(after, isLater ? stepId : undefined))!;
  }

  /** Each message of the model's is one of its turns. */
  #mintStep(answer: Answer): string {
    const stepId = `${answer.message.id}:step-${answer.turns}`;
    answer.turns += 1;
    answer.message.content.steps = { ...answer.message.content.steps, [stepId]: {} };
    return stepId;
  }

  #part(part: Fields): MessagePart | undefined {
    const { intertie, meta } = splitMetadata(parseMetadata(part.providerOptions, this.#onLoss));
    const kept = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
    switch (part.type) {
      case 'text': {
        const citations = Array.isArray(intertie.citations) ? intertie.citations : undefined;
        return { type: 'text', text: asText(part.text) ?? '', ...defined({ citations }), ...kept };
      }
      case 'reasoning':
      case 'redacted-reasoning': {
        const { details } = intertie;
        return { type: 'reasoning', reasoning: asText(part.text) ?? '', ...defined({ details }), ...kept };
      }
      case 'file':
      case 'image':
      case 'reasoning-file':
        return this.#file(part, intertie, kept);
      case 'custom':
        return { type: 'data', name: toProviderDataName(asText(part.kind) ?? 'custom'), data: null, ...kept };
      case 'tool-call':
        return this.#call(part, intertie, kept);
      case 'tool-result':
      case 'tool-approval-request':
        this.#result(part);
        return undefined;
      default: {
        const why = 'No part of an assistant message that we know has this type.';
        this.#onLoss({ kind: 'unsupported', what: asText(part.type) ?? 'part', why });
        return undefined;
      }
    }
  }

  #file(part: Fields, intertie: JsonObject, kept: Partial<FilePart>): FilePart | undefined {
    const { provider, ref } = asFields(intertie.reference);
    const said = { mediaType: part.mediaType, filename: part.filename };
    const body = parseFileBody({ data: part.data ?? part.image, ...said }, this.#onLoss);
    if (!body) return undefined;
    if (intertie.untyped === true) delete body.mimeType;
    const { mimeType, filename, ...content } = body;
    return {
      type: 'file',
      ...defined({ mimeType, filename }),
      ...(part.type === 'reasoning-file' && { reasoning: true }),
      ...(typeof ref === 'string' ? { reference: { ...defined({ provider: asText(provider) }), ref } } : content),
      ...kept,
    } as FilePart;
  }

  #call(part: Fields, intertie: JsonObject, kept: Partial<ToolPart>): ToolPart | undefined {
    const toolCallId = asNonEmptyText(part.toolCallId);
    if (toolCallId === undefined) {
      this.#onLoss({ kind: 'repaired', what: 'tool-call', why: 'It has no id, so nothing can refer to it.' });
      return undefined;
    }
    const { executor, dynamic, title, inputEncoding, toolMetadata, args, invalid } = intertie;
    const approval = parseQuestion(intertie.approval);
    return {
      type: 'tool-invocation',
      toolCallId: asNonEmptyText(intertie.toolCallId) ?? toolCallId,
      toolName: asText(part.toolName) ?? '',
      state: 'call',
      args: args === undefined ? toJson(part.input ?? null, this.#onLoss) : args,
      ...(part.providerExecuted === true && { executor: 'provider' as const }),
      ...((executor === 'runtime' || executor === 'client') && { executor }),
      ...(typeof dynamic === 'boolean' && { dynamic }),
      ...(typeof title === 'string' && { title }),
      ...((inputEncoding === 'json' || inputEncoding === 'text') && { inputEncoding }),
      ...defined({ toolMetadata, approval }),
      ...(invalid === true && { invalid }),
      ...(isFields(intertie.error) && typeof intertie.error.message === 'string' && { error: intertie.error as never }),
      ...kept,
    };
  }

  /** A result, a request for approval or its answer: each belongs to a call that has been read. */
  #result(part: Fields): void {
    if (part.type === 'tool-approval-response') return this.#approvalResponse(part);
    const call = this.#calls.get(toKey(part.toolCallId));
    if (call === undefined) {
      const why = 'No call before it has this id.';
      return this.#onLoss({ kind: 'repaired', what: asText(part.type) ?? 'part', why, ...idOf(part.toolCallId) });
    }
    if (part.type === 'tool-approval-request') return this.#approvalRequest(part, call);
    if (part.type !== 'tool-result') return;
    const { output = part.result } = part;
    const metadata = parseMetadata(part.providerOptions, this.#onLoss);
    if (metadata) call.resultMetadata = metadata;
    const result = decodeToolOutput(output, this.#onLoss);
    if (result.status === 'ok') {
      call.state = 'result';
      call.result = result.output;
      if (result.content) call.resultContent = true;
    } else if (result.status === 'error') {
      call.state = 'error';
      call.error ??= result.error;
    } else {
      call.state = 'denied';
      if (result.reason !== undefined) call.error = { message: result.reason };
    }
  }

  #approvalRequest(part: Fields, call: ToolPart): void {
    const approvalId = asNonEmptyText(part.approvalId);
    if (approvalId === undefined) return;
    const { signature, inputSchemaInput } = part;
    const json: Json | undefined = inputSchemaInput === undefined ? undefined : toJson(inputSchemaInput, this.#onLoss);
    call.approval ??= {
      ...toApproval(approvalId, call.toolCallId, { signature, ...defined({ inputSchemaInput: json }) }),
      ...defined({ reason: asText(part.reason) }),
      ...(part.isAutomatic === true && { automatic: true }),
    };
    this.#approvals.set(approvalId, call);
  }

  #approvalResponse(part: Fields): void {
    const questionId = asNonEmptyText(part.approvalId);
    const approval: AskedQuestion | undefined = this.#approvals.get(questionId ?? '')?.approval;
    if (questionId === undefined || approval === undefined) {
      const why = 'No request before it has this id.';
      return this.#onLoss({ kind: 'repaired', what: 'tool-approval-response', why, ...idOf(part.approvalId) });
    }
    approval.answer ??= { questionId, approved: part.approved === true, ...defined({ reason: asText(part.reason) }) };
  }
}

function interjectionOf(intertie: JsonObject, parts: MessagePart[]): InterjectionPart {
  const { role, name } = intertie;
  return {
    type: 'interjection',
    role: role === 'system' ? 'system' : 'user',
    ...defined({ name: asText(name) }),
    parts,
    ...parseIdentity(intertie),
  };
}

function idOf(value: unknown): { id?: string } {
  return defined({ id: asNonEmptyText(value) });
}
