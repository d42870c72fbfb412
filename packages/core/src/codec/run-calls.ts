import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Fault } from '../event/fault.ts';
import type { AskedQuestion, ToolPart, ToolState } from '../event/message.ts';
import type { ReportInvalidEvent } from './report-invalid-event.ts';
import type { Waiting } from '../event/outcome.ts';
import { isSettled } from './tool-part.ts';

type Call = {
  state: ToolState;
  invalid: Fault | undefined;
  stepId: string | undefined;
  /** Start event of a streamed call whose input is not complete yet. Its fields win over those of the `tool-call`. */
  inputStart: EventOf<'tool-input-start'> | undefined;
};

/** Tracks the state of the tool calls and questions of a run and its baseline. */
export class RunCalls {
  #reportInvalid: ReportInvalidEvent;
  #calls = new Map<string, Call>();
  #questions = new Map<string, { answered: boolean; toolCallId: string | undefined }>();
  /** Includes the questions of discarded steps: a question id is never reused. */
  #questionIds = new Set<string>();

  constructor(reportInvalid: ReportInvalidEvent) {
    this.#reportInvalid = reportInvalid;
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

  start(event: EventOf<'tool-input-start'>): void {
    this.#calls.set(event.toolCallId, {
      state: 'partial-call',
      invalid: undefined,
      stepId: event.stepId,
      inputStart: event,
    });
  }

  /** Marks a call as complete. A call that is already known stays in its step. */
  complete(event: EventOf<'tool-call'>, known: Readonly<Call> | undefined): void {
    const { stepId } = known ?? event;
    this.#calls.set(event.toolCallId, { state: 'call', invalid: event.invalid, stepId, inputStart: undefined });
  }

  settle(event: EventOf<'tool-result'>, emit: Emit<AgentEvent>): void {
    const { toolCallId } = event;
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return this.#reportInvalid(event, toolCallId, 'The tool call is unknown.');
    if (call.state === 'partial-call') return this.#reportInvalid(event, toolCallId, 'The call is not complete.');
    if (isSettled(call.state))
      return this.#reportInvalid(event, toolCallId, 'The call already has its result.', 'late');
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
    emit(event);
  }

  /** Emits an error result for every invalid call that got no result. */
  settleInvalidCalls(time: { at?: number }, emit: Emit<AgentEvent>): void {
    for (const [toolCallId, call] of this.#calls) {
      if (!call.invalid || call.state !== 'call') continue;
      call.state = 'error';
      emit({ type: 'tool-result', toolCallId, status: 'error', error: call.invalid, ...time });
    }
  }

  /** Returns the question to emit, without a reference to an unknown call; undefined for a duplicate. */
  ask(event: EventOf<'question'>): EventOf<'question'> | undefined {
    const { questionId } = event;
    if (this.#questionIds.has(questionId)) {
      this.#reportInvalid(event, questionId, 'The question was already asked.');
      return undefined;
    }
    this.#questionIds.add(questionId);
    const { toolCallId, ...free } = event;
    const isKnown = toolCallId === undefined || this.#calls.has(toolCallId);
    if (!isKnown) this.#reportInvalid(event, questionId, `It refers to the unknown tool call ${toolCallId}.`);
    this.#questions.set(questionId, { answered: false, toolCallId: isKnown ? toolCallId : undefined });
    return isKnown ? event : free;
  }

  answer(event: EventOf<'answer'>, emit: Emit<AgentEvent>): void {
    const { questionId } = event;
    const question = this.#questions.get(questionId);
    if (question === undefined) return this.#reportInvalid(event, questionId, 'The question is unknown.');
    if (question.answered) return this.#reportInvalid(event, questionId, 'The question is already answered.', 'late');
    question.answered = true;
    emit(event);
  }

  /** Removes the calls of a discarded step and their questions: no pause waits for them, and a snapshot may omit them. */
  discardStep(discarded: string): void {
    for (const [id, { stepId }] of this.#calls) if (stepId === discarded) this.#calls.delete(id);
    for (const [id, { toolCallId }] of this.#questions) {
      if (toolCallId !== undefined && !this.#calls.has(toolCallId)) this.#questions.delete(id);
    }
  }

  addFromSnapshot(part: ToolPart): void {
    const { invalid, stepId, inputStart } = this.#calls.get(part.toolCallId) ?? {};
    const fault = part.invalid ? (part.error ?? { message: 'The call is invalid.' }) : invalid;
    this.#calls.set(part.toolCallId, { state: part.state, invalid: fault, stepId, inputStart });
    if (part.approval) this.addQuestion(part.approval);
  }

  addQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questionIds.add(questionId);
    this.#questions.set(questionId, { answered: answer !== undefined, toolCallId });
  }
}
