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
import { toJson } from '@intertie/core';
import { mergeMeta, type FilePart, type InterjectionPart, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion } from '@intertie/core/store';
import { parseQuestion, toApproval } from '../shared/ai-sdk-approval.ts';
import { parseFileBody } from '../shared/file-body.ts';
import { parseIdentity, splitMetadata } from '../shared/intertie-metadata.ts';
import { toLateResultMeta } from './late-results.ts';
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
  /** Creation date of messages without one. Default: the Unix epoch, so that the conversion is deterministic. */
  createdAt?: Date;
  /** Creates ids of messages without one. Default: thread id and index, so that a repeated import yields the same ids. */
  generateId?: () => string;
  onLoss?: OnLoss;
}

/**
 * Converts model messages to canonical messages. The assistant and tool messages of one answer become one message with a step
 * per assistant message, and each result joins its call. Never throws: unreadable parts are reported and left out.
 */
export function fromModelMessages(messages: readonly unknown[], options: FromModelMessagesOptions): CanonicalMessage[] {
  const decoder = new ModelMessageDecoder(options);
  for (const [index, message] of messages.entries()) decoder.decode(message, index);
  return decoder.messages;
}

/** The assistant message being built. `isOurs`: we encoded it, so its parts have step ids. */
type Answer = { message: CanonicalMessage; parts: MessagePart[]; isOurs: boolean; steps: number };

class ModelMessageDecoder {
  readonly messages: CanonicalMessage[] = [];
  #options: FromModelMessagesOptions;
  #onLoss: OnLoss;
  #answer: Answer | undefined;
  /** All calls so far, by id: a result may be in a later message. */
  #calls = new Map<string, ToolPart>();
  #approvals = new Map<string, ToolPart>();

  constructor(options: FromModelMessagesOptions) {
    this.#options = options;
    this.#onLoss = options.onLoss ?? (() => undefined);
  }

  decode(value: unknown, index: number): void {
    const message = asFields(value);
    const { intertie, meta } = splitMetadata(parseMetadata(message.providerOptions, this.#onLoss));
    switch (message.role) {
      case 'system':
        this.#add('system', decodeUserContent(message.content, this.#onLoss), index, intertie, meta);
        return;
      case 'user': {
        const parts = decodeUserContent(message.content, this.#onLoss);
        if (isFields(intertie.interjection)) {
          const metadata = meta ? { providerMetadata: meta } : {};
          const interjection = { ...toInterjection(intertie.interjection, parts), ...metadata };
          this.#openAnswer(index, intertie).parts.push(interjection);
        } else this.#add('user', parts, index, intertie, meta);
        return;
      }
      case 'assistant':
        if (meta) {
          const why = 'A canonical message is a whole answer and has no field for the options of one step.';
          this.#onLoss({ kind: 'unsupported', what: 'providerOptions', why });
        }
        return this.#decodeAssistant(message.content, index, intertie);
      case 'tool':
        for (const part of Array.isArray(message.content) ? message.content : []) this.#decodeResult(asFields(part));
        return;
      default: {
        const why = `Message ${index} was left out: its role is not system, user, assistant or tool.`;
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
      role === 'assistant' ? { message, parts, isOurs: intertie.messageId !== undefined, steps: 0 } : undefined;
  }

  /** Returns the open answer, or a new one if the message belongs to another answer. */
  #openAnswer(index: number, intertie: JsonObject): Answer {
    const isOther = intertie.messageId !== undefined && this.#answer?.message.id !== intertie.messageId;
    if (this.#answer === undefined || isOther) this.#add('assistant', [], index, intertie);
    return this.#answer!;
  }

  #decodeAssistant(content: unknown, index: number, intertie: JsonObject): void {
    const answer = this.#openAnswer(index, intertie);
    const values =
      typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : [];
    const stepId = answer.isOurs ? undefined : this.#createStep(answer);
    for (const value of values) {
      const fields = asFields(value);
      const part = this.#decodePart(fields);
      if (fields.type === 'tool-result') this.#recordPlace(fields, answer, stepId);
      if (part === undefined) continue;
      const inStep = stepId === undefined ? part : { ...part, stepId };
      answer.parts.push(inStep);
      if (inStep.type === 'tool-invocation') this.#calls.set(toKey(fields.toolCallId), inStep);
    }
  }

  /** Records the place of a provider-executed result, unless it directly follows its call. */
  #recordPlace(part: Fields, { parts }: Answer, stepId: string | undefined): void {
    const call = this.#calls.get(toKey(part.toolCallId));
    const last = parts.at(-1);
    if (call?.executor !== 'provider' || call.resultMetadata?.['ai-sdk']?.['place'] !== undefined || !last) return;
    const lastId = last.type === 'tool-invocation' ? last.toolCallId : last.id;
    const after = last === call ? undefined : lastId;
    const isLater = stepId !== undefined && stepId !== call.stepId;
    if (after === undefined && !isLater) return;
    call.resultMetadata = mergeMeta(call.resultMetadata, toLateResultMeta(after, isLater ? stepId : undefined))!;
  }

  /** Creates the step of an assistant message. */
  #createStep(answer: Answer): string {
    const stepId = `${answer.message.id}:step-${answer.steps}`;
    answer.steps += 1;
    answer.message.content.steps = { ...answer.message.content.steps, [stepId]: {} };
    return stepId;
  }

  #decodePart(part: Fields): MessagePart | undefined {
    const { intertie, meta } = splitMetadata(parseMetadata(part.providerOptions, this.#onLoss));
    const identity = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
    switch (part.type) {
      case 'text': {
        const citations = Array.isArray(intertie.citations) ? intertie.citations : undefined;
        return { type: 'text', text: asText(part.text) ?? '', ...defined({ citations }), ...identity };
      }
      case 'reasoning':
      case 'redacted-reasoning': {
        const { details } = intertie;
        return { type: 'reasoning', reasoning: asText(part.text) ?? '', ...defined({ details }), ...identity };
      }
      case 'file':
      case 'image':
      case 'reasoning-file':
        return this.#decodeFile(part, intertie, identity);
      case 'custom':
        return { type: 'data', name: toProviderDataName(asText(part.kind) ?? 'custom'), data: null, ...identity };
      case 'tool-call':
        return this.#decodeCall(part, intertie, identity);
      case 'tool-result':
      case 'tool-approval-request':
        this.#decodeResult(part);
        return undefined;
      default: {
        const why = 'This type of part is unknown in assistant messages.';
        this.#onLoss({ kind: 'unsupported', what: asText(part.type) ?? 'part', why });
        return undefined;
      }
    }
  }

  #decodeFile(part: Fields, intertie: JsonObject, identity: Partial<FilePart>): FilePart | undefined {
    const { provider, ref } = asFields(intertie.reference);
    const { mediaType, filename: name } = part;
    const body = parseFileBody({ data: part.data ?? part.image, mediaType, filename: name }, this.#onLoss);
    if (!body) return undefined;
    if (intertie.untyped === true) delete body.mimeType;
    const { mimeType, filename, ...content } = body;
    return {
      type: 'file',
      ...defined({ mimeType, filename }),
      ...(part.type === 'reasoning-file' && { reasoning: true }),
      ...(typeof ref === 'string' ? { reference: { ...defined({ provider: asText(provider) }), ref } } : content),
      ...identity,
    } as FilePart;
  }

  #decodeCall(part: Fields, intertie: JsonObject, identity: Partial<ToolPart>): ToolPart | undefined {
    const toolCallId = asNonEmptyText(part.toolCallId);
    if (toolCallId === undefined) {
      this.#onLoss({ kind: 'repaired', what: 'tool-call', why: 'The call has no id.' });
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
      ...identity,
    };
  }

  /** Adds a result, an approval request or its response to the call that it belongs to. */
  #decodeResult(part: Fields): void {
    if (part.type === 'tool-approval-response') return this.#addApprovalResponse(part);
    const call = this.#calls.get(toKey(part.toolCallId));
    if (call === undefined) {
      const why = 'No earlier call has this id.';
      return this.#onLoss({ kind: 'repaired', what: asText(part.type) ?? 'part', why, ...toLossId(part.toolCallId) });
    }
    if (part.type === 'tool-approval-request') return this.#addApprovalRequest(part, call);
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

  #addApprovalRequest(part: Fields, call: ToolPart): void {
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

  #addApprovalResponse(part: Fields): void {
    const questionId = asNonEmptyText(part.approvalId);
    const approval: AskedQuestion | undefined = this.#approvals.get(questionId ?? '')?.approval;
    if (questionId === undefined || approval === undefined) {
      const why = 'No earlier approval request has this id.';
      return this.#onLoss({ kind: 'repaired', what: 'tool-approval-response', why, ...toLossId(part.approvalId) });
    }
    approval.answer ??= { questionId, approved: part.approved === true, ...defined({ reason: asText(part.reason) }) };
  }
}

function toInterjection(intertie: JsonObject, parts: MessagePart[]): InterjectionPart {
  const { role, name } = intertie;
  return {
    type: 'interjection',
    role: role === 'system' ? 'system' : 'user',
    ...defined({ name: asText(name) }),
    parts,
    ...parseIdentity(intertie),
  };
}

function toLossId(value: unknown): { id?: string } {
  return defined({ id: asNonEmptyText(value) });
}
