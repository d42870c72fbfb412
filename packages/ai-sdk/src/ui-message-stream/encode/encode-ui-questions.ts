import type { Answer, Emit, EventOf, Meta, OnLoss } from '@intertie/core';
import { isApproved } from '../../shared/ai-sdk-approval.ts';
import { emitDataEvent } from './emit-data-event.ts';
import type { UICall } from './encode-ui-call.ts';
import { withIntertieMetadata } from '../../shared/intertie-metadata.ts';
import { defined, omit } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { toQuestionCallId } from '../chunk/ui-question-id.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type Write = Emit<UIMessageChunk>;

/** What questions need of the encoder around them. */
export interface UIQuestionContext {
  version: UIMessageVersion;
  onLoss: OnLoss;
  steps: UIStepEncoder;
  /** A call that the client knows. */
  getCall(toolCallId: string): UICall | undefined;
}

/** The answer to a question that is told again, and whether its call is settled too. */
export type KnownAnswer = { answer: Answer; isSettled: boolean };

/** Writes questions and answers: about a call as its approval, about nothing as a tool part of their own. */
export class UIQuestionEncoder {
  #context: UIQuestionContext;
  /** The call that a question is the approval of; undefined if it is a tool part of its own. */
  #questions = new Map<string, string | undefined>();
  /** Those whose answer was told with them. */
  #answeredInRequest = new Set<string>();

  constructor(context: UIQuestionContext) {
    this.#context = context;
  }

  has(questionId: string): boolean {
    return this.#questions.has(questionId);
  }

  /** The client has this question already. */
  addBaseline(questionId: string, toolCallId?: string): void {
    this.#questions.set(questionId, toolCallId);
  }

  /** Whether a question can be asked as the approval of its call. */
  isApproval(event: EventOf<'question'>): boolean {
    return this.#findCall(event) !== undefined;
  }

  /** With a `known` answer, ai 6 has no chunk to say so: a call that goes on must not be asked about again. */
  encodeQuestion(event: EventOf<'question'>, known: KnownAnswer | undefined, emit: Write): void {
    const call = this.#findCall(event);
    this.#reportOrder(event, call);
    if (call === undefined) return this.#encodeQuestionPart(event, emit);
    call.questionId = event.questionId;
    this.#questions.set(event.questionId, event.toolCallId);
    if (known && !known.isSettled) return emitDataEvent(event, emit);
    this.#encodeApprovalRequest(event, event.toolCallId!, known?.answer, emit);
  }

  /** Whether the client knows the question. */
  encodeAnswer(event: EventOf<'answer'>, emit: Write): boolean {
    if (!this.#questions.has(event.questionId)) return false;
    const toolCallId = this.#questions.get(event.questionId);
    if (toolCallId === undefined) this.#encodeAnswerPart(event, emit);
    else this.#encodeApprovalResponse(event, toolCallId, emit);
    return true;
  }

  /** The call that a question is the approval of. A call that is over, or asked about, cannot be asked about. */
  #findCall({ toolCallId }: EventOf<'question'>): UICall | undefined {
    const call = toolCallId === undefined ? undefined : this.#context.getCall(toolCallId);
    const isOver = call?.state === 'settled' || call?.invalid !== undefined || call?.questionId !== undefined;
    return isOver ? undefined : call;
  }

  /** A stored message has the question before any output of the call, and with the call even where nobody asks about it. */
  #reportOrder({ toolCallId, questionId }: EventOf<'question'>, asked: UICall | undefined): void {
    const call = toolCallId === undefined ? undefined : this.#context.getCall(toolCallId);
    const isLate = asked?.hasPreliminary === true;
    if (!isLate && call?.invalid === undefined) return;
    const why = isLate
      ? 'It is asked after an output of its call; the client hides that one until the next.'
      : 'Nobody asks about an invalid call, so the client has it as a part of its own.';
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
      const why = 'It is answered after an output of its call; the client hides that one until the next.';
      this.#context.onLoss({ kind: 'unsupported', what: 'order', why, id: questionId });
    }
    if (!hasChunk) {
      const isLate = call?.state === 'settled';
      const why = isLate
        ? 'The call is settled, and its state does not go back.'
        : 'ai 6 has no chunk for it; the client that answered knows, others learn it from the result.';
      this.#context.onLoss({ kind: 'unsupported', what: isLate ? 'order' : 'answer', why, id: questionId });
    }
    const extra = [value, cancelled, by, providerMetadata].some((value) => value !== undefined);
    if (!hasChunk || extra || approved === undefined) emitDataEvent(event, emit);
    if (!hasChunk) return;
    emit({
      type: 'tool-approval-response',
      approvalId: questionId,
      approved: !isRefused,
      ...(reason !== undefined && { reason }),
    });
  }

  /** A question about nothing is a dynamic tool that the page answers with `addToolOutput`. */
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
      ...defined({
        providerMetadata: withIntertieMetadata(providerMetadata, { question: true, ...defined({ agentId }) }),
      }),
    });
  }

  #encodeAnswerPart(event: EventOf<'answer'>, emit: Write): void {
    const { questionId, value, providerMetadata, ...answer } = omit(event, 'type', 'at', 'origin');
    const toolCallId = toQuestionCallId(questionId);
    const fields = {
      toolCallId,
      dynamic: true,
      ...defined({ providerMetadata: withIntertieMetadata(providerMetadata, { answer }) }),
    };
    if (event.cancelled) {
      if (value !== undefined) emitDataEvent(event, emit);
      emit({ type: 'tool-output-error', ...fields, errorText: event.reason || 'The question was cancelled.' });
      return;
    }
    // The output is the value, or where there is none the answer itself.
    emit({ type: 'tool-output-available', ...fields, output: value === undefined ? answer : value });
  }
}
