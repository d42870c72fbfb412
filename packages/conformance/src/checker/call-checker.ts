import type { EventOf } from '@intertie/core';
import { equalJson, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion, Waiting } from '@intertie/core/store';
import type { ReportViolation } from '../rules/canonical-rules.ts';
import { isSettled, type CallRecord, type QuestionRecord } from './snapshot-violations.ts';

/** Fields that `tool-input-start` and `tool-call` have in common. */
const callKeys = [
  'toolName',
  'agentId',
  'stepId',
  'to',
  'internal',
  'executor',
  'dynamic',
  'title',
  'inputEncoding',
  'toolMetadata',
] as const;

/** Checks that each tool call is made, settled and answered once, in that order. */
export class CallChecker {
  #violation: ReportViolation;
  #calls = new Map<string, CallRecord>();
  #questions = new Map<string, QuestionRecord>();

  constructor(violation: ReportViolation) {
    this.#violation = violation;
  }

  get records(): { calls: ReadonlyMap<string, CallRecord>; questions: ReadonlyMap<string, QuestionRecord> } {
    return { calls: this.#calls, questions: this.#questions };
  }

  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  isPending(waiting: Waiting): boolean {
    if (waiting.type === 'tool') {
      const call = this.#calls.get(waiting.toolCallId);
      return call?.state === 'call' && !call.discarded;
    }
    return waiting.type === 'message' || this.#questions.get(waiting.questionId)?.state === 'open';
  }

  open(event: EventOf<'tool-input-start'>): void {
    this.#calls.set(event.toolCallId, { state: 'partial-call', invalid: false, opening: event });
  }

  call(event: EventOf<'tool-call'>, isInputOpen: boolean): void {
    const before = this.#calls.get(event.toolCallId);
    if (before && before.state !== 'partial-call')
      this.#violation('C4-call', `The call ${event.toolCallId} is already complete.`);
    else if (before && isInputOpen) this.#violation('C4-call', `The input of ${event.toolCallId} has not ended.`);
    if (before?.opening) this.#checkSameFields(before.opening, event);
    if (before && isSettled(before.state)) return;
    this.#calls.set(event.toolCallId, {
      state: 'call',
      invalid: event.invalid !== undefined,
      opening: before?.opening ?? event,
    });
  }

  settle(event: EventOf<'tool-result'>): void {
    const call = this.#calls.get(event.toolCallId);
    if (!call || call.discarded)
      return this.#violation('C4-result', `There is no call ${event.toolCallId}.`, 'toolCallId');
    if (call.state === 'partial-call') this.#violation('C4-result', `The call ${event.toolCallId} is not complete.`);
    if (isSettled(call.state)) this.#violation('C4-result', `The call ${event.toolCallId} already has a final result.`);
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
  }

  ask(event: EventOf<'question'>): void {
    if (this.#questions.has(event.questionId)) {
      this.#violation('C2-name', `The question ${event.questionId} was already asked.`, 'questionId');
    }
    const call = this.#calls.get(event.toolCallId ?? '');
    if (event.toolCallId !== undefined && (!call || call.discarded)) {
      this.#violation('C4-refer', `There is no call ${event.toolCallId}.`, 'toolCallId');
    }
    this.#questions.set(event.questionId, { state: 'open', toolCallId: event.toolCallId });
  }

  answer(event: EventOf<'answer'>): void {
    const question = this.#questions.get(event.questionId);
    if (!question || question.state === 'discarded') {
      return this.#violation('C4-refer', `There is no question ${event.questionId}.`, 'questionId');
    }
    if (question.state === 'answered')
      this.#violation('C5-answer', `The question ${event.questionId} is already answered.`);
    question.state = 'answered';
  }

  /** Reports invalid calls without a result at the end of the run. */
  end(): void {
    for (const [id, call] of this.#calls) {
      if (call.invalid && call.state === 'call' && !call.discarded)
        this.#violation('C4-invalid', `The invalid call ${id} has no result.`);
    }
  }

  discard(stepId: string): void {
    for (const call of this.#calls.values()) if (call.opening?.stepId === stepId) call.discarded = true;
    for (const question of this.#questions.values()) {
      if (this.#calls.get(question.toolCallId ?? '')?.discarded) question.state = 'discarded';
    }
  }

  addFromSnapshot({ toolCallId, state, invalid, approval }: ToolPart): void {
    const opening = this.#calls.get(toolCallId)?.opening;
    this.#calls.set(toolCallId, { state, invalid: invalid === true, ...(opening && { opening }) });
    if (approval) this.addQuestion(approval);
  }

  addQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questions.set(questionId, { state: answer ? 'answered' : 'open', toolCallId });
  }

  #checkSameFields(opening: EventOf<'tool-input-start' | 'tool-call'>, event: EventOf<'tool-call'>): void {
    for (const key of callKeys) {
      const before = opening[key];
      const now = event[key];
      if (now === undefined || before === undefined || equalJson(now, before)) continue;
      this.#violation('C6-once', `${key} was ${JSON.stringify(before)} when ${event.toolCallId} opened.`, key);
    }
  }
}
