import type { Codec, Emit, End } from './codec.ts';
import type { AgentEvent, EventOf } from './event.ts';
import type { Loss, OnLoss } from './loss.ts';
import type { Outcome, Waiting } from './outcome.ts';
import type { RunInput } from './run-input.ts';
import { RunGuard } from './run-guard.ts';
import { isPlainDelta, isWellFormed, mend } from './well-formed.ts';

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
export function seal(run: RunInput, onLoss: OnLoss): Codec<AgentEvent, AgentEvent> {
  const guard = new RunGuard(onLoss);
  const start = runStart(run, onLoss);
  let phase: 'before' | 'running' | 'ended' = 'before';
  /** Of a log that was taken up: the baseline has not been seen yet. */
  let owesBaseline = false;
  let at: number | undefined;

  const pass = (event: AgentEvent, emit: Emit<AgentEvent>): void => {
    if (event.at !== undefined) at = event.at;
    guard.admit(event, emit);
  };

  const writeBaseline = (emit: Emit<AgentEvent>): void => {
    owesBaseline = false;
    if (run.message) guard.admit({ type: 'message-snapshot', content: run.message, at: run.startedAt }, emit);
  };

  const begin = (emit: Emit<AgentEvent>): void => {
    if (phase !== 'before') return;
    phase = 'running';
    emit(start);
    writeBaseline(emit);
    for (const answer of run.answers) {
      const event: AgentEvent =
        'questionId' in answer ? { type: 'answer', ...answer } : { type: 'tool-result', ...answer };
      guard.admit({ ...event, at: run.startedAt }, emit);
    }
    if (run.state !== undefined) guard.admit({ type: 'state-snapshot', state: run.state, at: run.startedAt }, emit);
  };

  const finish = (end: EventOf<'run-end'>, emit: Emit<AgentEvent>): void => {
    const time = at === undefined ? {} : { at };
    guard.settleInvalid(time, emit);
    const settled = withOutcome(end, guard, onLoss);
    guard.closeAll(settled, time, emit);
    phase = 'ended';
    emit({ ...settled, ...time });
  };

  const take = (event: AgentEvent, emit: Emit<AgentEvent>): void => {
    if (event.type === 'run-start') {
      if (phase === 'running') return onLoss(secondStart(event));
      phase = 'running';
      owesBaseline = run.message !== undefined;
      at = event.at;
      return emit({ ...event, ...start, at: event.at ?? run.startedAt });
    }
    begin(emit);
    if (owesBaseline && event.type !== 'message-snapshot') writeBaseline(emit);
    owesBaseline = false;
    if (event.type !== 'run-end') return pass(event, emit);
    if (event.at !== undefined) at = event.at;
    finish(event, emit);
  };

  return {
    feed(fed, emit) {
      if (phase === 'ended') return onLoss(late(fed));
      // Most of a stream, and nothing but being open is asked of it.
      if (phase === 'running' && !owesBaseline && isPlainDelta(fed)) return guard.admit(fed, emit);
      if (isWellFormed(fed)) return take(fed, emit);
      for (const event of mend(fed, onLoss)) take(event, emit);
    },

    flush: begin,

    end(end, emit) {
      if (phase === 'ended') return;
      begin(emit);
      if (owesBaseline) writeBaseline(emit);
      finish({ type: 'run-end', ...outcomeOf(end) }, emit);
    },
  };
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

/** A wire that closes without a last word has been cut: `eof` is not success. */
function outcomeOf(end: End): Outcome {
  switch (end.reason) {
    case 'eof':
      return { outcome: 'error', error: { message: 'The stream ended before the run did.', code: 'truncated' } };
    case 'aborted': {
      const { by, message: reason } = end;
      return { outcome: 'aborted', ...(by && { by }), ...(reason !== undefined && { reason }) };
    }
    case 'error':
      return { outcome: 'error', error: end.error };
  }
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
  const { outcome: _, waitingFor: __, ...rest } = end;
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
