import type { Codec, Emit, End } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import type { Loss, OnLoss } from '../json/loss.ts';
import { isLostRun, type Waiting } from '../event/outcome.ts';
import { toInterruptedOutcome } from './to-outcome.ts';
import type { RunInput } from '../event/run-input.ts';
import { RunGuard } from './run-guard.ts';
import { markSealedCodec } from './sealed-stream.ts';
import { isWellFormed, repairEvent, getPlainDeltaId } from '../event/well-formed.ts';

export interface SealOptions {
  /**
   * Skips the shape check of events, for decoders in typed code that convert all passed-on values to JSON. References between
   * events are checked in any case. Default: false.
   */
  trusted?: boolean;
  /**
   * Committed events of a run that is resumed: `ResumePoint.events`. The seal continues after them and repeats none, so it writes
   * `run-start` and the baseline only if they are missing.
   */
  log?: readonly AgentEvent[];
}

/**
 * Creates the last codec of every source. It writes `run-start`, the message that a continued run starts from (the baseline), the
 * answers and the initial state before the first event. At the end it closes open parts, steps and agents in reverse order and writes `run-end`. Its output keeps the stream invariants for any
 * input: an event that would break one is repaired or dropped, and reported to `onLoss`.
 *
 * A decoder, a stop and the recovery after a crash all end a run here. Recovery passes the events of the log, which are not written
 * again. The seal creates no ids and reads no clock: the events of `end` get the time
 * of the last event that had one; if no event had one, the surrounding stream sets the time.
 */
export function seal(run: RunInput, onLoss: OnLoss, options: SealOptions = {}): Codec<AgentEvent, AgentEvent> {
  const codec = new Seal(run, onLoss, options);
  markSealedCodec(codec, { run, log: options.log });
  return codec;
}

class Seal implements Codec<AgentEvent, AgentEvent> {
  #run: RunInput;
  #onLoss: OnLoss;
  #isTrusted: boolean;
  #guard: RunGuard;
  #start: EventOf<'run-start'>;
  #phase: 'before' | 'running' | 'ended' = 'before';
  /** Opening events that are to be written before the next event: the baseline, the answers and the state. */
  #opening: AgentEvent[] = [];
  /** Time of the last event that is not a delta, for the events that the seal adds. */
  #lastTime: number | undefined;
  #checkpoint: EventOf<'checkpoint'> | undefined;
  /** Part of the last plain delta. Cleared by any other event, so the part is still open. */
  #lastType: string | undefined;
  #lastId: string | undefined;

  constructor(run: RunInput, onLoss: OnLoss, { trusted = false, log = [] }: SealOptions) {
    this.#run = run;
    this.#onLoss = onLoss;
    this.#isTrusted = trusted;
    this.#guard = new RunGuard(onLoss);
    this.#start = createRunStart(run, onLoss);
    for (const event of log) this.#restore(event);
  }

  feed(input: AgentEvent, emit: Emit<AgentEvent>): void {
    // Fast path for most events of a stream: a further delta of a part that is known to be open.
    const id = getPlainDeltaId(input);
    if (id !== undefined && id === this.#lastId && input.type === this.#lastType) return emit(input);
    this.#lastId = undefined;
    if (this.#phase === 'ended') return this.#onLoss(toLateLoss(input));
    if (id !== undefined && this.#phase === 'running' && this.#opening.length === 0)
      return this.#handleDelta(input, id, emit);
    if (this.#isTrusted || isWellFormed(input)) return this.#handleEvent(input, emit);
    for (const event of repairEvent(input, this.#onLoss)) this.#handleEvent(event, emit);
  }

  flush(emit: Emit<AgentEvent>): void {
    if (this.#phase === 'before') this.#startRun(emit);
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    if (this.#phase === 'ended') return;
    if (this.#phase === 'before') this.#startRun(emit);
    this.#writeOpening(emit);
    this.#endRun({ type: 'run-end', ...toInterruptedOutcome(end) }, emit);
  }

  #handleDelta(event: AgentEvent, id: string, emit: Emit<AgentEvent>): void {
    this.#guard.admit(event, (admitted) => {
      this.#lastType = event.type;
      this.#lastId = id;
      emit(admitted);
    });
  }

  #handleEvent(event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (event.type === 'run-start') return this.#handleRunStart(event, emit);
    if (this.#phase === 'before') this.#startRun(emit);
    // The source's own baseline replaces ours.
    const isBaseline = event.type === 'message-snapshot' && this.#opening[0]?.type === 'message-snapshot';
    if (isBaseline) this.#opening[0] = event;
    this.#writeOpening(emit);
    if (isBaseline) return;
    // A source that sets no times ends now, also if the log that it continues has times.
    if (event.at !== undefined || !event.type.endsWith('-delta')) this.#lastTime = event.at;
    if (event.type === 'run-end') return this.#endRun(event, emit);
    if (event.type === 'checkpoint') this.#checkpoint = event;
    this.#guard.admit(event, emit);
  }

  /** Handles the `run-start` of a source that writes its own. */
  #handleRunStart(event: EventOf<'run-start'>, emit: Emit<AgentEvent>): void {
    if (this.#phase === 'running') return this.#onLoss(toSecondStartLoss(event));
    this.#phase = 'running';
    this.#opening = createOpening(this.#run);
    this.#lastTime = event.at;
    emit({ ...event, ...this.#start, at: event.at ?? this.#run.startedAt });
  }

  #startRun(emit: Emit<AgentEvent>): void {
    this.#phase = 'running';
    this.#opening = createOpening(this.#run);
    emit(this.#start);
    this.#writeOpening(emit);
  }

  #writeOpening(emit: Emit<AgentEvent>): void {
    const opening = this.#opening;
    this.#opening = [];
    for (const event of opening) this.#guard.admit(event, emit);
  }

  /** Applies a committed event without writing it. A log can end within the opening events; the rest of them is still to be written. */
  #restore(event: AgentEvent): void {
    if (event.at !== undefined) this.#lastTime = event.at;
    if (event.type === 'run-start') {
      this.#phase = 'running';
      this.#opening = createOpening(this.#run);
      return;
    }
    if (event.type === 'run-end') this.#phase = 'ended';
    if (event.type === 'checkpoint') this.#checkpoint = event;
    if (this.#opening[0]?.type === event.type) this.#opening.shift();
    else this.#opening = [];
    this.#guard.admit(event, () => undefined);
  }

  #endRun(end: EventOf<'run-end'>, emit: Emit<AgentEvent>): void {
    const time = this.#lastTime === undefined ? {} : { at: this.#lastTime };
    this.#guard.settleInvalidCalls(time, emit);
    const corrected = checkOutcome(end, this.#guard, this.#onLoss);
    this.#guard.closeScopes(corrected, time, emit);
    this.#phase = 'ended';
    this.#lastId = undefined;
    emit({ ...withToken(corrected, this.#checkpoint), ...time });
  }
}

/** Adds the last token of the source to the end of a lost run, so that the next turn continues the same remote task. */
function withToken(end: EventOf<'run-end'>, checkpoint: EventOf<'checkpoint'> | undefined): EventOf<'run-end'> {
  if (!checkpoint || !isLostRun(end)) return end;
  return { ...end, resume: end.resume ?? checkpoint.token };
}

/** Creates the events between `run-start` and the first event of the source. */
function createOpening({ message, answers, state, startedAt: at }: RunInput): AgentEvent[] {
  return [
    ...(message ? [{ type: 'message-snapshot', content: message, at } as const] : []),
    ...answers.map((answer): AgentEvent =>
      'questionId' in answer ? { type: 'answer', ...answer, at } : { type: 'tool-result', ...answer, at },
    ),
    ...(state === undefined ? [] : [{ type: 'state-snapshot', state, at } as const]),
  ];
}

function createRunStart(run: RunInput, onLoss: OnLoss): EventOf<'run-start'> {
  const { runId, threadId, messageId, parentMessageId, resumes, parentRunId } = run;
  const continues = resumes !== undefined && run.message !== undefined;
  if (resumes !== undefined && !continues) {
    const why = `The run continues ${resumes}, but RunInput.message is missing. It starts without a baseline.`;
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

/** A run is paused only if it waits for something pending. Otherwise it is complete. */
function checkOutcome(end: EventOf<'run-end'>, guard: RunGuard, onLoss: OnLoss): EventOf<'run-end'> {
  if (end.outcome !== 'paused') return end;
  const waitingFor = end.waitingFor.filter((waiting) => {
    if (guard.isPending(waiting)) return true;
    const why = `It waits for ${describeWaiting(waiting)}, which is not pending.`;
    onLoss({ kind: 'repaired', what: 'run-end', why });
    return false;
  });
  if (waitingFor.length > 0) return { ...end, waitingFor };
  if (end.waitingFor.length === 0) {
    onLoss({ kind: 'repaired', what: 'run-end', why: 'It is paused and waits for nothing, so it is complete.' });
  }
  const rest = omit(end, 'outcome', 'waitingFor');
  return { ...rest, outcome: 'complete' };
}

function describeWaiting(waiting: Waiting): string {
  if (waiting.type === 'tool') return `the call ${waiting.toolCallId}`;
  return waiting.type === 'question' ? `the question ${waiting.questionId}` : 'a message';
}

function toLateLoss(input: AgentEvent): Loss {
  const type = (input as { type?: unknown } | null)?.type;
  const what = typeof type === 'string' ? type : 'unknown event';
  return { kind: 'late', what, why: 'It came after the run had ended.', ...getId(input) };
}

function toSecondStartLoss(event: EventOf<'run-start'>): Loss {
  return { kind: 'repaired', what: 'run-start', why: 'The run has already started.', id: event.runId };
}

function getId(input: AgentEvent): { id?: string } {
  const { id, toolCallId } = (input ?? {}) as { id?: unknown; toolCallId?: unknown };
  const found = id ?? toolCallId;
  return typeof found === 'string' ? { id: found } : {};
}
