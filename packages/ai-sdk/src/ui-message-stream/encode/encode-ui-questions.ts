import type { Answer, Emit, EventOf, Meta, OnLoss } from '@intertie/core';
import { isApproved } from '../../shared/ai-sdk-approval.ts';
import { emitDataEvent } from './emit-data-event.ts';
import type { UICall } from './encode-ui-call.ts';
import { withIntertie } from '../../shared/intertie-metadata.ts';
import { defined, omit } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { toQuestionCallId } from '../chunk/ui-question-id.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type Write = Emit<UIMessageChunk>;

/** State and functions of the surrounding encoder. */
export interface UIQuestionContext {
  version: UIMessageVersion;
  onLoss: OnLoss;
  steps: UIStepEncoder;
  /** Returns a call that the client has. */
  getCall(toolCallId: string): UICall | undefined;
}

/** Answer of a replayed question, and whether its call is settled. */
export type KnownAnswer = { answer: Answer; isSettled: boolean };

/** Encodes questions and answers: as the approval of a call, or as a separate tool part if there is no call. */
export class UIQuestionEncoder {
  #context: UIQuestionContext;
  /** The call of each approval; undefined for a question with a separate tool part. */
  #questions = new Map<string, string | undefined>();
  /** Approvals whose request chunk already contains the answer. */
  #answeredInRequest = new Set<string>();

  constructor(context: UIQuestionContext) {
    this.#context = context;
  }

  has(questionId: string): boolean {
    return this.#questions.has(questionId);
  }

  /** Adds a question that the client already has. */
  addBaseline(questionId: string, toolCallId?: string): void {
    this.#questions.set(questionId, toolCallId);
  }

  /** Whether a question is sent as the approval of its call. */
  isApproval(event: EventOf<'question'>): boolean {
    return this.#findCall(event) !== undefined;
  }

  /** Encodes a question. If `known` is set and its call is open, sends only data: ai 6 would show the approval as open. */
  encodeQuestion(event: EventOf<'question'>, known: KnownAnswer | undefined, emit: Write): void {
    const call = this.#findCall(event);
    this.#reportOrder(event, call);
    if (call === undefined) return this.#encodeQuestionPart(event, emit);
    call.questionId = event.questionId;
    this.#questions.set(event.questionId, event.toolCallId);
    if (known && !known.isSettled) return emitDataEvent(event, emit);
    this.#encodeApprovalRequest(event, event.toolCallId!, known?.answer, emit);
  }

  /** Returns false if the client does not have the question. */
  encodeAnswer(event: EventOf<'answer'>, emit: Write): boolean {
    if (!this.#questions.has(event.questionId)) return false;
    const toolCallId = this.#questions.get(event.questionId);
    if (toolCallId === undefined) this.#encodeAnswerPart(event, emit);
    else this.#encodeApprovalResponse(event, toolCallId, emit);
    return true;
  }

  /** Finds the call that a question approves. Settled and invalid calls and those with an approval cannot get one. */
  #findCall({ toolCallId }: EventOf<'question'>): UICall | undefined {
    const call = toolCallId === undefined ? undefined : this.#context.getCall(toolCallId);
    const isOver = call?.state === 'settled' || call?.invalid !== undefined || call?.questionId !== undefined;
    return isOver ? undefined : call;
  }

  /** Reports an order that a stored message does not preserve: it has a question with its call, before any output. */
  #reportOrder({ toolCallId, questionId }: EventOf<'question'>, asked: UICall | undefined): void {
    const call = toolCallId === undefined ? undefined : this.#context.getCall(toolCallId);
    const isLate = asked?.hasPreliminary === true;
    if (!isLate && call?.invalid === undefined) return;
    const why = isLate
      ? 'The question follows an output of its call; the client hides that output until the next one.'
      : 'An invalid call has no approval, so the client has the question as a separate part.';
    this.#context.onLoss({ kind: 'unsupported', what: 'order', why, id: questionId });
  }

  #encodeApprovalRequest(event: EventOf<'question'>, toolCallId: string, known: Answer | undefined, emit: Write): void {
    const { questionId: approvalId, providerMetadata, ...asked } = omit(event, 'type', 'at', 'origin', 'toolCallId');
    const { kind, reason, automatic, ...details } = asked;
    const { 'ai-sdk': own = {}, ...others } = providerMetadata ?? {};
    const { signature, approvalDescriptor, inputSchemaInput, ...rest } = own;
    const meta: Meta = { ...others, ...(Object.keys(rest).length > 0 && { 'ai-sdk': rest }) };
    const is7 = this.#context.version === 7;
    const extra = {
      ...details,
      ...(kind !== 'approval' && { kind }),
      ...(!is7 && defined({ reason, automatic })),
      ...(Object.keys(meta).length > 0 && { providerMetadata: meta }),
      ...(known && approvalDescriptor === undefined && { answer: known }),
    };
    const hasExtra = Object.keys(extra).length > 0;
    if ('answer' in extra) this.#answeredInRequest.add(approvalId);
    if (hasExtra && approvalDescriptor !== undefined) emitDataEvent(event, emit);
    const descriptor = approvalDescriptor ?? (hasExtra ? { intertie: extra } : undefined);
    emit({
      type: 'tool-approval-request',
      approvalId,
      toolCallId,
      ...(descriptor !== undefined && { approvalDescriptor: descriptor }),
      ...(inputSchemaInput !== undefined && { inputSchemaInput }),
      ...(typeof signature === 'string' && { signature }),
      ...(is7 && defined({ reason, isAutomatic: automatic })),
    });
  }

  #encodeApprovalResponse(event: EventOf<'answer'>, toolCallId: string, emit: Write): void {
    const { questionId, approved, reason, value, cancelled, by, providerMetadata } = event;
    const call = this.#context.getCall(toolCallId);
    const isRefused = isApproved({ answer: event }) === false;
    if (call && isRefused) call.isRefused = true;
    if (this.#answeredInRequest.has(questionId)) return;
    const hasChunk = this.#context.version === 7 && call?.state !== 'settled';
    if (hasChunk && call?.hasPreliminary) {
      const why = 'The answer follows an output of its call; the client hides that output until the next one.';
      this.#context.onLoss({ kind: 'unsupported', what: 'order', why, id: questionId });
    }
    if (!hasChunk) {
      const isLate = call?.state === 'settled';
      const why = isLate
        ? 'The call is settled, and its state cannot go back.'
        : 'ai 6 has no chunk for it; only the client that answered knows before the result.';
      this.#context.onLoss({ kind: 'unsupported', what: isLate ? 'order' : 'answer', why, id: questionId });
    }
    const hasExtra = [value, cancelled, by, providerMetadata].some((field) => field !== undefined);
    if (!hasChunk || hasExtra || approved === undefined) emitDataEvent(event, emit);
    if (!hasChunk) return;
    emit({
      type: 'tool-approval-response',
      approvalId: questionId,
      approved: !isRefused,
      ...(reason !== undefined && { reason }),
    });
  }

  /** Encodes a question without a call as a dynamic tool, which the page answers with `addToolOutput`. */
  #encodeQuestionPart(event: EventOf<'question'>, emit: Write): void {
    const { agentId, questionId, providerMetadata, ...input } = omit(event, 'type', 'at', 'origin');
    this.#questions.set(questionId, undefined);
    this.#context.steps.addPart(undefined);
    const toolCallId = toQuestionCallId(questionId);
    this.#context.steps.addCall(toolCallId, undefined, false);
    emit({
      type: 'tool-input-available',
      toolCallId,
      toolName: event.reason || 'question',
      input,
      dynamic: true,
      ...defined({ providerMetadata: withIntertie(providerMetadata, { question: true, ...defined({ agentId }) }) }),
    });
  }

  #encodeAnswerPart(event: EventOf<'answer'>, emit: Write): void {
    const { questionId, value, providerMetadata, ...answer } = omit(event, 'type', 'at', 'origin');
    const toolCallId = toQuestionCallId(questionId);
    const fields = {
      toolCallId,
      dynamic: true,
      ...defined({ providerMetadata: withIntertie(providerMetadata, { answer }) }),
    };
    if (event.cancelled) {
      if (value !== undefined) emitDataEvent(event, emit);
      emit({ type: 'tool-output-error', ...fields, errorText: event.reason || 'The question was cancelled.' });
      return;
    }
    // Without a value the output is the answer itself.
    emit({ type: 'tool-output-available', ...fields, output: value === undefined ? answer : value });
  }
}
