import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Fault } from '../event/fault.ts';
import type { AskedQuestion, ToolPart, ToolState } from '../event/message.ts';
import type { Misfit } from './report-invalid-event.ts';
import type { Waiting } from '../event/outcome.ts';
import { isSettled } from './tool-part.ts';

type Call = {
  state: ToolState;
  invalid: Fault | undefined;
  stepId: string | undefined;
  /** What the opening said of a call that was streamed, and what therefore holds. */
  said: EventOf<'tool-input-start'> | undefined;
};

/** The calls of a run and its baseline, and what was asked: what has been made, settled and answered. */
export class RunCalls {
  #misfit: Misfit;
  #calls = new Map<string, Call>();
  #questions = new Map<string, { answered: boolean; toolCallId: string | undefined }>();
  /** Those of a discarded step too: an id is never asked under again. */
  #questionIds = new Set<string>();

  constructor(misfit: Misfit) {
    this.#misfit = misfit;
  }

  get calls(): ReadonlyMap<string, Readonly<Call>> {
    return this.#calls;
  }

  get questions(): ReadonlyMap<string, { readonly answered: boolean }> {
    return this.#questions;
  }

  isPending(waiting: Waiting): boolean {
    if (waiting.type === 'message') return true;
    if (waiting.type === 'question') return this.#questions.get(waiting.questionId)?.answered === false;
    return this.#calls.get(waiting.toolCallId)?.state === 'call';
  }

  opened(event: EventOf<'tool-input-start'>): void {
    this.#calls.set(event.toolCallId, { state: 'partial-call', invalid: undefined, stepId: event.stepId, said: event });
  }

  /** The call is complete. `known` is what was known of it: it stays in its step. */
  called(event: EventOf<'tool-call'>, known: Readonly<Call> | undefined): void {
    const { stepId } = known ?? event;
    this.#calls.set(event.toolCallId, { state: 'call', invalid: event.invalid, stepId, said: undefined });
  }

  settle(event: EventOf<'tool-result'>, emit: Emit<AgentEvent>): void {
    const { toolCallId } = event;
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return this.#misfit(event, toolCallId, 'There is no such call.');
    if (call.state === 'partial-call') return this.#misfit(event, toolCallId, 'The call is not complete.');
    if (isSettled(call.state)) return this.#misfit(event, toolCallId, 'The call has its result already.', 'late');
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
    emit(event);
  }

  /** Each invalid call has a result, also if nobody gave one. */
  settleInvalid(time: { at?: number }, emit: Emit<AgentEvent>): void {
    for (const [toolCallId, call] of this.#calls) {
      if (!call.invalid || call.state !== 'call') continue;
      call.state = 'error';
      emit({ type: 'tool-result', toolCallId, status: 'error', error: call.invalid, ...time });
    }
  }

  /** The question as it can be asked, or nothing. */
  ask(event: EventOf<'question'>): EventOf<'question'> | undefined {
    const { questionId } = event;
    if (this.#questionIds.has(questionId)) {
      this.#misfit(event, questionId, 'It has been asked before.');
      return undefined;
    }
    this.#questionIds.add(questionId);
    const { toolCallId, ...free } = event;
    const isKnown = toolCallId === undefined || this.#calls.has(toolCallId);
    if (!isKnown) this.#misfit(event, questionId, `It is about the call ${toolCallId}, which does not exist.`);
    this.#questions.set(questionId, { answered: false, toolCallId: isKnown ? toolCallId : undefined });
    return isKnown ? event : free;
  }

  answer(event: EventOf<'answer'>, emit: Emit<AgentEvent>): void {
    const { questionId } = event;
    const question = this.#questions.get(questionId);
    if (question === undefined) return this.#misfit(event, questionId, 'There is no such question.');
    if (question.answered) return this.#misfit(event, questionId, 'The question is answered already.', 'late');
    question.answered = true;
    emit(event);
  }

  /** Its calls never happened: nothing waits for them, and a snapshot may leave them out. */
  discard(discarded: string): void {
    for (const [id, { stepId }] of this.#calls) if (stepId === discarded) this.#calls.delete(id);
    for (const [id, { toolCallId }] of this.#questions) {
      if (toolCallId !== undefined && !this.#calls.has(toolCallId)) this.#questions.delete(id);
    }
  }

  learn(part: ToolPart): void {
    const { invalid, stepId, said } = this.#calls.get(part.toolCallId) ?? {};
    const fault = part.invalid ? (part.error ?? { message: 'The call is invalid.' }) : invalid;
    this.#calls.set(part.toolCallId, { state: part.state, invalid: fault, stepId, said });
    if (part.approval) this.learnQuestion(part.approval);
  }

  learnQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questionIds.add(questionId);
    this.#questions.set(questionId, { answered: answer !== undefined, toolCallId });
  }
}
