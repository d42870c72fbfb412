import type { Codec, Emit, End } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import type { Loss, OnLoss } from '../json/loss.ts';
import type { Waiting } from '../event/outcome.ts';
import { toInterruptedOutcome } from './to-outcome.ts';
import type { RunInput } from '../event/run-input.ts';
import { RunGuard } from './run-guard.ts';
import { markSeal } from './sealed-stream.ts';
import { isWellFormed, mend, plainDeltaOf } from '../event/well-formed.ts';

export interface SealOptions {
  /**
   * Whether the events need not be looked at for their shape, since a decoder in typed code makes them, and makes JSON of what it
   * passes on. What they refer to is looked at all the same. Default: no.
   */
  trusted?: boolean;
}

/**
 * The last codec of every source: it frames the run. Before the first event it writes `run-start`, the baseline, the
 * answers and the state that the run begins with; at the end it closes what is open, in reverse order, and writes
 * `run-end`. Whatever it is fed, what comes out keeps the invariants: an event that would break one is mended or left
 * out, and entered in the ledger.
 *
 * A decoder, a stop and the recovery after a crash all end a run here. Recovery feeds the log, whose `run-start` is then
 * taken and not written again, and appends what `end` emits. It mints nothing and reads no clock: what it writes at the end
 * carries the time of the last event that had one; where none had, the skin says when it was.
 */
export function seal(run: RunInput, onLoss: OnLoss, options: SealOptions = {}): Codec<AgentEvent, AgentEvent> {
  const codec = new Seal(run, onLoss, options);
  markSeal(codec, run);
  return codec;
}

class Seal implements Codec<AgentEvent, AgentEvent> {
  #run: RunInput;
  #onLoss: OnLoss;
  #isTrusted: boolean;
  #guard: RunGuard;
  #start: EventOf<'run-start'>;
  #phase: 'before' | 'running' | 'ended' = 'before';
  /** Of a log that was taken up: the baseline has not been seen yet. */
  #owesBaseline = false;
  #at: number | undefined;
  /** What the last delta was of, and nothing has come since: it is open still. */
  #lastType: string | undefined;
  #lastId: string | undefined;

  constructor(run: RunInput, onLoss: OnLoss, { trusted = false }: SealOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#isTrusted = trusted;
    this.#guard = new RunGuard(onLoss);
    this.#start = runStart(run, onLoss);
  }

  feed(fed: AgentEvent, emit: Emit<AgentEvent>): void {
    // Most of a stream, and nothing but being open is asked of it.
    const id = plainDeltaOf(fed);
    if (id !== undefined && id === this.#lastId && fed.type === this.#lastType) return emit(fed);
    this.#lastId = undefined;
    if (this.#phase === 'ended') return this.#onLoss(late(fed));
    if (id !== undefined && this.#phase === 'running' && !this.#owesBaseline) return this.#delta(fed, id, emit);
    if (this.#isTrusted || isWellFormed(fed)) return this.#take(fed, emit);
    for (const event of mend(fed, this.#onLoss)) this.#take(event, emit);
  }

  flush(emit: Emit<AgentEvent>): void {
    if (this.#phase === 'before') this.#begin(emit);
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    if (this.#phase === 'ended') return;
    if (this.#phase === 'before') this.#begin(emit);
    if (this.#owesBaseline) this.#writeBaseline(emit);
    this.#finish({ type: 'run-end', ...toInterruptedOutcome(end) }, emit);
  }

  #delta(event: AgentEvent, id: string, emit: Emit<AgentEvent>): void {
    this.#guard.admit(event, (admitted) => {
      this.#lastType = event.type;
      this.#lastId = id;
      emit(admitted);
    });
  }

  #take(event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (event.type === 'run-start') return this.#takeStart(event, emit);
    if (this.#phase === 'before') this.#begin(emit);
    if (this.#owesBaseline && event.type !== 'message-snapshot') this.#writeBaseline(emit);
    this.#owesBaseline = false;
    if (event.at !== undefined) this.#at = event.at;
    if (event.type === 'run-end') this.#finish(event, emit);
    else this.#guard.admit(event, emit);
  }

  #takeStart(event: EventOf<'run-start'>, emit: Emit<AgentEvent>): void {
    if (this.#phase === 'running') return this.#onLoss(secondStart(event));
    this.#phase = 'running';
    this.#owesBaseline = this.#run.message !== undefined;
    this.#at = event.at;
    emit({ ...event, ...this.#start, at: event.at ?? this.#run.startedAt });
  }

  #begin(emit: Emit<AgentEvent>): void {
    this.#phase = 'running';
    const { answers, state, startedAt: at } = this.#run;
    emit(this.#start);
    this.#writeBaseline(emit);
    for (const answer of answers) {
      const event: AgentEvent =
        'questionId' in answer ? { type: 'answer', ...answer, at } : { type: 'tool-result', ...answer, at };
      this.#guard.admit(event, emit);
    }
    if (state !== undefined) this.#guard.admit({ type: 'state-snapshot', state, at }, emit);
  }

  #writeBaseline(emit: Emit<AgentEvent>): void {
    this.#owesBaseline = false;
    const { message, startedAt: at } = this.#run;
    if (message) this.#guard.admit({ type: 'message-snapshot', content: message, at }, emit);
  }

  #finish(end: EventOf<'run-end'>, emit: Emit<AgentEvent>): void {
    const time = this.#at === undefined ? {} : { at: this.#at };
    this.#guard.settleInvalid(time, emit);
    const settled = withOutcome(end, this.#guard, this.#onLoss);
    this.#guard.closeAll(settled, time, emit);
    this.#phase = 'ended';
    this.#lastId = undefined;
    emit({ ...settled, ...time });
  }
}

function runStart(run: RunInput, onLoss: OnLoss): EventOf<'run-start'> {
  const { runId, threadId, messageId, parentMessageId, resumes, parentRunId } = run;
  const continues = resumes !== undefined && run.message !== undefined;
  if (resumes !== undefined && !continues) {
    const why = `The run continues ${resumes}, but RunInput.message does not say from where. It starts afresh.`;
    onLoss({ kind: 'repaired', what: 'run-start', why, id: runId });
  }
  return {
    type: 'run-start',
    runId,
    threadId,
    messageId,
    ...(parentMessageId !== undefined && { parentMessageId }),
    ...(continues && { resumes }),
    ...(parentRunId !== undefined && { parentRunId }),
    at: run.startedAt,
  };
}

/** A run is paused exactly if something is waited for. */
function withOutcome(end: EventOf<'run-end'>, guard: RunGuard, onLoss: OnLoss): EventOf<'run-end'> {
  if (end.outcome !== 'paused') return end;
  const waitingFor = end.waitingFor.filter((waiting) => {
    if (guard.isPending(waiting)) return true;
    onLoss({ kind: 'repaired', what: 'run-end', why: `It waits for ${name(waiting)}, which is not pending.` });
    return false;
  });
  if (waitingFor.length > 0) return { ...end, waitingFor };
  if (end.waitingFor.length === 0) {
    onLoss({ kind: 'repaired', what: 'run-end', why: 'It is paused and waits for nothing, so it is complete.' });
  }
  const rest = omit(end, 'outcome', 'waitingFor');
  return { ...rest, outcome: 'complete' };
}

function name(waiting: Waiting): string {
  if (waiting.type === 'tool') return `the call ${waiting.toolCallId}`;
  return waiting.type === 'question' ? `the question ${waiting.questionId}` : 'a message';
}

function late(fed: AgentEvent): Loss {
  const type = (fed as { type?: unknown } | null)?.type;
  const what = typeof type === 'string' ? type : 'no event';
  return { kind: 'late', what, why: 'It came after the run had ended.', ...idOf(fed) };
}

function secondStart(event: EventOf<'run-start'>): Loss {
  return { kind: 'repaired', what: 'run-start', why: 'The run had started already.', id: event.runId };
}

function idOf(fed: AgentEvent): { id?: string } {
  const { id, toolCallId } = (fed ?? {}) as { id?: unknown; toolCallId?: unknown };
  const found = id ?? toolCallId;
  return typeof found === 'string' ? { id: found } : {};
}
