import { equalJson, type AskedQuestion, type EventOf, type ToolPart, type Waiting } from '@intertie/core';
import type { Complain } from '../rules/canonical-rules.ts';
import { settled, type CallRecord, type QuestionRecord } from './snapshot-violations.ts';

/** What the opening of a call and the call itself both say. */
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

/** The calls of a run, and what was asked: each is made, settled and answered once, and in that order. */
export class CheckedCalls {
  #complain: Complain;
  #calls = new Map<string, CallRecord>();
  #questions = new Map<string, QuestionRecord>();

  constructor(complain: Complain) {
    this.#complain = complain;
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
      this.#complain('C4-call', `The call ${event.toolCallId} is complete already.`);
    else if (before && isInputOpen) this.#complain('C4-call', `The input of ${event.toolCallId} has not ended.`);
    if (before?.opening) this.#sameCall(before.opening, event);
    if (before && settled(before.state)) return;
    this.#calls.set(event.toolCallId, {
      state: 'call',
      invalid: event.invalid !== undefined,
      opening: before?.opening ?? event,
    });
  }

  settle(event: EventOf<'tool-result'>): void {
    const call = this.#calls.get(event.toolCallId);
    if (!call || call.discarded)
      return this.#complain('C4-result', `There is no call ${event.toolCallId}.`, 'toolCallId');
    if (call.state === 'partial-call') this.#complain('C4-result', `The call ${event.toolCallId} is not complete.`);
    if (settled(call.state)) this.#complain('C4-result', `The call ${event.toolCallId} has its final result.`);
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
  }

  ask(event: EventOf<'question'>): void {
    if (this.#questions.has(event.questionId)) {
      this.#complain('C2-name', `The question ${event.questionId} has been asked before.`, 'questionId');
    }
    const call = this.#calls.get(event.toolCallId ?? '');
    if (event.toolCallId !== undefined && (!call || call.discarded)) {
      this.#complain('C4-refer', `There is no call ${event.toolCallId}.`, 'toolCallId');
    }
    this.#questions.set(event.questionId, { state: 'open', toolCallId: event.toolCallId });
  }

  answer(event: EventOf<'answer'>): void {
    const question = this.#questions.get(event.questionId);
    if (!question || question.state === 'discarded') {
      return this.#complain('C4-refer', `There is no question ${event.questionId}.`, 'questionId');
    }
    if (question.state === 'answered')
      this.#complain('C5-answer', `The question ${event.questionId} is answered already.`);
    question.state = 'answered';
  }

  /** The run is over: each invalid call has its result. */
  end(): void {
    for (const [id, call] of this.#calls) {
      if (call.invalid && call.state === 'call' && !call.discarded)
        this.#complain('C4-invalid', `The invalid call ${id} has no result.`);
    }
  }

  discard(stepId: string): void {
    for (const call of this.#calls.values()) if (call.opening?.stepId === stepId) call.discarded = true;
    for (const question of this.#questions.values()) {
      if (this.#calls.get(question.toolCallId ?? '')?.discarded) question.state = 'discarded';
    }
  }

  learn({ toolCallId, state, invalid, approval }: ToolPart): void {
    const opening = this.#calls.get(toolCallId)?.opening;
    this.#calls.set(toolCallId, { state, invalid: invalid === true, ...(opening && { opening }) });
    if (approval) this.learnQuestion(approval);
  }

  learnQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questions.set(questionId, { state: answer ? 'answered' : 'open', toolCallId });
  }

  #sameCall(opening: EventOf<'tool-input-start' | 'tool-call'>, event: EventOf<'tool-call'>): void {
    for (const key of callKeys) {
      const before = opening[key];
      const now = event[key];
      if (now === undefined || before === undefined || equalJson(now, before)) continue;
      this.#complain('C6-once', `${key} was ${JSON.stringify(before)} when ${event.toolCallId} opened.`, key);
    }
  }
}
