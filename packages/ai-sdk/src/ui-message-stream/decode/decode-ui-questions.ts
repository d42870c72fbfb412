import {
  validateEvent,
  type AgentEvent,
  type Emit,
  type EventOf,
  type JsonObject,
  type OnLoss,
  toJson,
} from '@intertie/core';
import { equalJson, mergeMeta } from '@intertie/core/internal';
import type { OutputChunk } from './decode-ui-result.ts';
import { parseDescriptorAnswer } from '../../shared/ai-sdk-approval.ts';
import { splitMetadata } from '../../shared/intertie-metadata.ts';
import { defined, asFields, isFields, asJsonObject, parseMetadata } from '../../shared/read-fields.ts';
import type {
  UIToolApprovalRequestChunk7,
  UIToolApprovalResponseChunk,
  UIToolInputAvailableChunk,
} from '../chunk/ui-message-chunk.ts';
import { toDenialId, parseQuestionId } from '../chunk/ui-question-id.ts';
import type { UIDecoderContext } from './ui-decoder-context.ts';

type Write = Emit<AgentEvent>;

/** Decodes approvals, and questions sent as tool parts. Methods return a problem if a chunk refers to an unknown id. */
export class UIQuestionDecoder {
  #context: UIDecoderContext;
  /** Questions sent as tool parts, and whether they are answered. */
  #questionParts = new Map<string, boolean>();
  /** Approvals with their calls, and whether they are answered. */
  #approvals = new Map<string, { toolCallId: string; answered: boolean }>();

  constructor(context: UIDecoderContext) {
    this.#context = context;
    for (const part of context.run.message?.parts ?? []) {
      if (part.type === 'question') this.#questionParts.set(part.questionId, part.answer !== undefined);
      if (part.type !== 'tool-invocation' || !part.approval) continue;
      const { questionId, answer } = part.approval;
      this.#approvals.set(questionId, { toolCallId: part.toolCallId, answered: answer !== undefined });
    }
  }

  decodeRequest(chunk: UIToolApprovalRequestChunk7, emit: Write): string | undefined {
    if (this.#approvals.has(chunk.approvalId)) return undefined;
    if (chunk.approvalId === '') return 'An approval request must have an id.';
    const toolCallId = this.#context.findCallId(chunk.toolCallId);
    if (toolCallId === undefined) return 'There is no call with that id.';
    const isMadeUp = chunk.approvalId === toDenialId(chunk.toolCallId);
    const answer = isMadeUp ? undefined : parseDescriptorAnswer(chunk.approvalDescriptor, chunk.approvalId);
    this.#approvals.set(chunk.approvalId, { toolCallId, answered: isMadeUp || answer !== undefined });
    if (!isMadeUp) emit(toQuestion(chunk, toolCallId, this.#context.onLoss));
    if (answer) emit({ type: 'answer', ...answer });
    return undefined;
  }

  decodeResponse(chunk: UIToolApprovalResponseChunk, emit: Write): string | undefined {
    const approval = this.#approvals.get(chunk.approvalId);
    if (approval === undefined) return 'There is no approval request with that id.';
    if (approval.answered) return undefined;
    approval.answered = true;
    const { meta } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    emit({
      type: 'answer',
      questionId: chunk.approvalId,
      approved: chunk.approved,
      ...defined({ reason: chunk.reason, providerMetadata: meta }),
    });
    return undefined;
  }

  /** Decodes a question or answer from a data event. A chunk for it that follows is ignored. */
  decodeDataEvent(event: EventOf<'question' | 'answer'>, emit: Write): void {
    if (event.type === 'answer') {
      const approval = this.#approvals.get(event.questionId);
      if (approval) approval.answered = true;
      else this.#questionParts.set(event.questionId, true);
      return emit(event);
    }
    const { toolCallId, ...question } = event;
    const id = toolCallId === undefined ? undefined : this.#context.findCallId(toolCallId);
    if (id === undefined) this.#questionParts.set(event.questionId, false);
    else this.#approvals.set(event.questionId, { toolCallId: id, answered: false });
    emit({ ...question, ...defined({ toolCallId: id }) });
  }

  /** Lists unanswered questions with their calls. Approvals of settled calls no longer need an answer. */
  listOpen(isSettled: (toolCallId: string) => boolean): Array<{ questionId: string; toolCallId?: string }> {
    const open: Array<{ questionId: string; toolCallId?: string }> = [];
    for (const [questionId, { toolCallId, answered }] of this.#approvals) {
      if (!answered && !isSettled(toolCallId)) open.push({ questionId, toolCallId });
    }
    for (const [questionId, answered] of this.#questionParts) if (!answered) open.push({ questionId });
    return open;
  }

  /** Decodes a question that our encoder sent as a dynamic tool. Returns false if the chunk is not one. */
  decodeQuestionPart(chunk: UIToolInputAvailableChunk, emit: Write): boolean {
    const { intertie } = splitMetadata(parseMetadata(chunk.providerMetadata, this.#context.onLoss));
    const questionId = intertie.question === true ? parseQuestionId(chunk.toolCallId) : undefined;
    if (questionId === undefined) return false;
    const { providerMetadata } = this.#context.getAttribution(
      parseMetadata(chunk.providerMetadata, this.#context.onLoss),
      emit,
    );
    const input = asJsonObject(toJson(chunk.input, this.#context.onLoss)) ?? {};
    const wireId = typeof input.toolCallId === 'string' ? input.toolCallId : undefined;
    const { toolCallId: _, ...body } = input;
    const question = {
      type: 'question',
      kind: 'input',
      ...body,
      questionId,
      ...defined({ toolCallId: wireId === undefined ? undefined : this.#context.findCallId(wireId), providerMetadata }),
      ...(typeof intertie.agentId === 'string' && { agentId: intertie.agentId }),
    };
    this.#questionParts.set(questionId, false);
    const plain: EventOf<'question'> = { type: 'question', kind: 'input', questionId };
    emit(validateEvent(question) === undefined ? (question as EventOf<'question'>) : plain);
    return true;
  }

  /** Decodes the output of such a tool as the answer. Returns false if the chunk is not one. */
  decodeAnswerPart(chunk: OutputChunk, emit: Write): boolean {
    const questionId = parseQuestionId(chunk.toolCallId);
    const isAnswered = questionId === undefined ? undefined : this.#questionParts.get(questionId);
    if (questionId === undefined || isAnswered === undefined) return false;
    if (isAnswered) return true;
    this.#questionParts.set(questionId, true);
    const wireMeta = chunk.type === 'tool-output-denied' ? undefined : chunk.providerMetadata;
    const { intertie, meta } = splitMetadata(parseMetadata(wireMeta, this.#context.onLoss));
    const output =
      chunk.type === 'tool-output-available' ? toJson(chunk.output ?? null, this.#context.onLoss) : undefined;
    const isValue = output !== undefined && (intertie.answer === undefined || !equalJson(output, intertie.answer));
    const plain: EventOf<'answer'> = {
      type: 'answer',
      questionId,
      ...(isValue && { value: output }),
      ...(output === undefined && { cancelled: true }),
    };
    const answer = {
      ...plain,
      ...asJsonObject(intertie.answer ?? null),
      questionId,
      ...(meta && { providerMetadata: meta }),
    };
    emit(validateEvent(answer) === undefined ? answer : plain);
    return true;
  }
}

function toQuestion(chunk: UIToolApprovalRequestChunk7, toolCallId: string, onLoss: OnLoss): EventOf<'question'> {
  const { approvalId: questionId, approvalDescriptor, inputSchemaInput, signature, reason, isAutomatic } = chunk;
  const details = isFields(approvalDescriptor)
    ? asJsonObject(toJson(asFields(approvalDescriptor).intertie ?? null))
    : undefined;
  const own: JsonObject = {};
  if (signature !== undefined) own.signature = signature;
  if (approvalDescriptor !== undefined && details === undefined) {
    own.approvalDescriptor = toJson(approvalDescriptor, onLoss);
  }
  if (inputSchemaInput !== undefined) own.inputSchemaInput = toJson(inputSchemaInput, onLoss);
  const plain: EventOf<'question'> = {
    type: 'question',
    questionId,
    kind: 'approval',
    toolCallId,
    ...defined({ reason, automatic: isAutomatic === true ? (true as const) : undefined }),
    ...(Object.keys(own).length > 0 && { providerMetadata: { 'ai-sdk': own } }),
  };
  if (details === undefined) return plain;
  const providerMetadata = mergeMeta(parseMetadata(details.providerMetadata, onLoss), plain.providerMetadata);
  const { answer: _, ...asked } = details;
  const full = { ...plain, ...asked, questionId, toolCallId, ...defined({ providerMetadata }) };
  return validateEvent(full) === undefined ? full : plain;
}
