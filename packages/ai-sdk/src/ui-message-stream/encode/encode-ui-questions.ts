import type { Answer, Emit, EventOf, Meta, OnLoss } from '@intertie/core';
import { isApproved } from '../../shared/ai-sdk-approval.ts';
import { carry } from '../chunk/carry-event.ts';
import type { UICall } from './encode-ui-call.ts';
import { withSlot } from '../../shared/intertie-metadata.ts';
import { defined, omit } from '../../shared/read-fields.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { questionCallId } from '../chunk/ui-question-id.ts';
import type { UISteps } from './ui-steps.ts';

type Write = Emit<UIMessageChunk>;

/** What questions need of the encoder around them. */
export interface UIQuestionsContext {
  version: UIMessageVersion;
  onLoss: OnLoss;
  steps: UISteps;
  /** A call that the client knows. */
  callOf(toolCallId: string): UICall | undefined;
}

/** The answer to a question that is told again, and whether its call is settled too. */
export type KnownAnswer = { answer: Answer; isSettled: boolean };

/** Writes questions and answers: about a call as its approval, about nothing as a tool part of their own. */
export class UIQuestions {
  #context: UIQuestionsContext;
  /** The call that a question is the approval of; undefined if it is a tool part of its own. */
  #questions = new Map<string, string | undefined>();
  /** Those whose answer was told with them. */
  #told = new Set<string>();

  constructor(context: UIQuestionsContext) {
    this.#context = context;
  }

  has(questionId: string): boolean {
    return this.#questions.has(questionId);
  }

  /** The client has this question already. */
  learn(questionId: string, toolCallId?: string): void {
    this.#questions.set(questionId, toolCallId);
  }

  /** Whether a question can be asked as the approval of its call. */
  canAsk(event: EventOf<'question'>): boolean {
    return this.#callOf(event) !== undefined;
  }

  /** With a `known` answer, ai 6 has no chunk to say so: a call that goes on must not be asked about again. */
  ask(event: EventOf<'question'>, known: KnownAnswer | undefined, emit: Write): void {
    const call = this.#callOf(event);
    this.#reportOrder(event, call);
    if (call === undefined) return this.#askApart(event, emit);
    call.questionId = event.questionId;
    this.#questions.set(event.questionId, event.toolCallId);
    if (known && !known.isSettled) return carry(event, emit);
    this.#requestApproval(event, event.toolCallId!, known?.answer, emit);
  }

  /** Whether the client knows the question. */
  answer(event: EventOf<'answer'>, emit: Write): boolean {
    if (!this.#questions.has(event.questionId)) return false;
    const toolCallId = this.#questions.get(event.questionId);
    if (toolCallId === undefined) this.#answerPart(event, emit);
    else this.#respond(event, toolCallId, emit);
    return true;
  }

  /** The call that a question is the approval of. A call that is over, or asked about, cannot be asked about. */
  #callOf({ toolCallId }: EventOf<'question'>): UICall | undefined {
    const call = toolCallId === undefined ? undefined : this.#context.callOf(toolCallId);
    const isOver = call?.state === 'settled' || call?.invalid !== undefined || call?.questionId !== undefined;
    return isOver ? undefined : call;
  }

  /** A stored message has the question before any output of the call, and with the call even where nobody asks about it. */
  #reportOrder({ toolCallId, questionId }: EventOf<'question'>, asked: UICall | undefined): void {
    const call = toolCallId === undefined ? undefined : this.#context.callOf(toolCallId);
    const isLate = asked?.hasPreliminary === true;
    if (!isLate && call?.invalid === undefined) return;
    const why = isLate
      ? 'It is asked after an output of its call; the client hides that one until the next.'
      : 'Nobody asks about an invalid call, so the client has it as a part of its own.';
    this.#context.onLoss({ kind: 'unsupported', what: 'order', why, id: questionId });
  }

  #requestApproval(event: EventOf<'question'>, toolCallId: string, known: Answer | undefined, emit: Write): void {
    const { questionId: approvalId, providerMetadata, ...asked } = omit(event, 'type', 'at', 'origin', 'toolCallId');
    const { kind, reason, automatic, ...details } = asked;
    const { 'ai-sdk': own = {}, ...others } = providerMetadata ?? {};
    const { signature, approvalDescriptor, inputSchemaInput, ...rest } = own;
    const meta: Meta = { ...others, ...(Object.keys(rest).length > 0 && { 'ai-sdk': rest }) };
    const is7 = this.#context.version === 7;
    const more = {
      ...details,
      ...(kind !== 'approval' && { kind }),
      ...(!is7 && defined({ reason, automatic })),
      ...(Object.keys(meta).length > 0 && { providerMetadata: meta }),
      ...(known && approvalDescriptor === undefined && { answer: known }),
    };
    const hasMore = Object.keys(more).length > 0;
    if ('answer' in more) this.#told.add(approvalId);
    if (hasMore && approvalDescriptor !== undefined) carry(event, emit);
    const descriptor = approvalDescriptor ?? (hasMore ? { intertie: more } : undefined);
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

  #respond(event: EventOf<'answer'>, toolCallId: string, emit: Write): void {
    const { questionId, approved, reason, value, cancelled, by, providerMetadata } = event;
    const call = this.#context.callOf(toolCallId);
    const isRefused = isApproved({ answer: event }) === false;
    if (call && isRefused) call.isRefused = true;
    if (this.#told.has(questionId)) return;
    const canSay = this.#context.version === 7 && call?.state !== 'settled';
    if (canSay && call?.hasPreliminary) {
      const why = 'It is answered after an output of its call; the client hides that one until the next.';
      this.#context.onLoss({ kind: 'unsupported', what: 'order', why, id: questionId });
    }
    if (!canSay) {
      const isLate = call?.state === 'settled';
      const why = isLate
        ? 'The call is settled, and its state does not go back.'
        : 'ai 6 has no chunk for it; the client that answered knows, others learn it from the result.';
      this.#context.onLoss({ kind: 'unsupported', what: isLate ? 'order' : 'answer', why, id: questionId });
    }
    const more = [value, cancelled, by, providerMetadata].some((said) => said !== undefined);
    if (!canSay || more || approved === undefined) carry(event, emit);
    if (!canSay) return;
    emit({
      type: 'tool-approval-response',
      approvalId: questionId,
      approved: !isRefused,
      ...(reason !== undefined && { reason }),
    });
  }

  /** A question about nothing is a dynamic tool that the page answers with `addToolOutput`. */
  #askApart(event: EventOf<'question'>, emit: Write): void {
    const { agentId, questionId, providerMetadata, ...input } = omit(event, 'type', 'at', 'origin');
    this.#questions.set(questionId, undefined);
    this.#context.steps.note(undefined);
    const toolCallId = questionCallId(questionId);
    this.#context.steps.addCall(toolCallId, undefined, false);
    emit({
      type: 'tool-input-available',
      toolCallId,
      toolName: event.reason || 'question',
      input,
      dynamic: true,
      ...defined({ providerMetadata: withSlot(providerMetadata, { question: true, ...defined({ agentId }) }) }),
    });
  }

  #answerPart(event: EventOf<'answer'>, emit: Write): void {
    const { questionId, value, providerMetadata, ...answer } = omit(event, 'type', 'at', 'origin');
    const toolCallId = questionCallId(questionId);
    const said = {
      toolCallId,
      dynamic: true,
      ...defined({ providerMetadata: withSlot(providerMetadata, { answer }) }),
    };
    if (event.cancelled) {
      if (value !== undefined) carry(event, emit);
      emit({ type: 'tool-output-error', ...said, errorText: event.reason || 'The question was cancelled.' });
      return;
    }
    // The output is the value, or where there is none the answer itself.
    emit({ type: 'tool-output-available', ...said, output: value === undefined ? answer : value });
  }
}
