import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import type { OnLoss } from '../json/loss.ts';
import type { MessageContent } from '../event/message.ts';
import { createInvalidEventReporter, type ReportInvalidEvent } from './report-invalid-event.ts';
import { OpenScopes, type OpenScope } from './open-scopes.ts';
import type { Outcome, Waiting } from '../event/outcome.ts';
import { toOutcome } from './to-outcome.ts';
import type { Attribution } from '../event/part-body.ts';
import { RunAgents } from './run-agents.ts';
import { RunCalls } from './run-calls.ts';
import { RunValues } from './run-values.ts';
import { findSnapshotRegression, getText, type EarlierRuns } from './find-snapshot-regression.ts';

type Time = { at?: number };

/**
 * Enforces the invariants of a run. It tracks the open scopes and everything that an event may refer to, in this run and in its
 * baseline. Valid events pass, some are repaired, and the others are dropped and reported.
 */
export class RunGuard {
  #reportInvalid: ReportInvalidEvent;
  #scopes = new OpenScopes();
  #agents: RunAgents;
  #calls: RunCalls;
  #values = new RunValues();
  /** Used part ids and tool call ids, which share one namespace. */
  #ids = new Set<string>();
  /** Step of every part. A discarded step removes its parts, but their ids stay reserved in `#ids`. */
  #parts = new Map<string, string | undefined>();
  /** Baseline of earlier runs. This run may add to it, but not change it. */
  #earlierRuns: EarlierRuns | undefined;

  constructor(onLoss: OnLoss) {
    this.#reportInvalid = createInvalidEventReporter(onLoss);
    this.#agents = new RunAgents(this.#scopes, this.#reportInvalid);
    this.#calls = new RunCalls(this.#reportInvalid);
  }

  isPending(waiting: Waiting): boolean {
    return this.#calls.isPending(waiting);
  }

  /** Emits the event, repaired if necessary and preceded by required events, or reports why it is dropped. */
  admit(event: AgentEvent, emit: Emit<AgentEvent>): void {
    switch (event.type) {
      case 'text-delta':
        return this.#emitIfOpen('text', event.id, event, emit);
      case 'reasoning-delta':
        return this.#emitIfOpen('reasoning', event.id, event, emit);
      case 'tool-input-delta':
        return this.#emitIfOpen('tool-input', event.toolCallId, event, emit);
      case 'text-start':
        return this.#openPart('text', event, emit);
      case 'reasoning-start':
        return this.#openPart('reasoning', event, emit);
      case 'text-end':
        return this.#closePart('text', event.id, event, emit);
      case 'reasoning-end':
        return this.#closePart('reasoning', event.id, event, emit);
      case 'tool-input-start':
        return this.#startToolInput(event, emit);
      case 'tool-input-end':
        return this.#closePart('tool-input', event.toolCallId, event, emit);
      case 'tool-call':
        return this.#completeCall(event, emit);
      case 'tool-result':
        return this.#calls.settle(event, emit);
      case 'agent-start':
        return this.#agents.start(event, emit);
      case 'agent-end':
        return this.#agents.end(event, emit);
      case 'step-start':
        return this.#agents.startStep(event, emit);
      case 'step-end':
        return this.#endStep(event, emit);
      case 'question':
        return this.#ask(event, emit);
      case 'answer':
        return this.#calls.answer(event, emit);
      case 'interjection':
      case 'file':
      case 'source':
        if (this.#reserveId(event.id, event)) emit(this.#addPart(event.id, event));
        return;
      case 'data':
        return this.#setData(event, emit);
      case 'data-delta':
        return this.#patchData(event, emit);
      case 'state-snapshot':
        this.#values.setState(event.state);
        return emit(event);
      case 'state-delta':
        return this.#patchState(event, emit);
      case 'message-snapshot':
        return this.#applySnapshot(event, emit);
      case 'metadata':
        if (event.id === undefined || this.#parts.has(event.id)) emit(event);
        else this.#reportInvalid(event, event.id, 'The part is unknown.');
        return;
      case 'notice':
      case 'checkpoint':
      case 'raw':
        return emit(event);
      case 'run-start':
      case 'run-end':
        // Only the seal writes these.
        return;
    }
  }

  /** Emits an error result for every invalid call that got no result. */
  settleInvalidCalls(time: Time, emit: Emit<AgentEvent>): void {
    this.#calls.settleInvalidCalls(time, emit);
  }

  /** Closes all open scopes, the last opened first. */
  closeScopes(outcome: Outcome, time: Time, emit: Emit<AgentEvent>): void {
    for (const scope of this.#scopes.listNewestFirst()) this.#closeScope(scope, outcome, time, emit);
  }

  #closeScope({ kind, id }: OpenScope, outcome: Outcome, time: Time, emit: Emit<AgentEvent>): void {
    this.#scopes.delete(kind, id);
    switch (kind) {
      case 'text':
        return emit({ type: 'text-end', id, ...time });
      case 'reasoning':
        return emit({ type: 'reasoning-end', id, ...time });
      case 'tool-input':
        return emit({ type: 'tool-input-end', toolCallId: id, ...time });
      case 'step':
        return emit({ type: 'step-end', stepId: id, ...time });
      case 'agent':
        this.#agents.recordEnd(id, outcome.outcome);
        return emit({ type: 'agent-end', agentId: id, ...toAgentOutcome(outcome), ...time });
    }
  }

  #openPart(
    kind: 'text' | 'reasoning',
    event: EventOf<'text-start' | 'reasoning-start'>,
    emit: Emit<AgentEvent>,
  ): void {
    if (!this.#reserveId(event.id, event)) return;
    const attributed = this.#addPart(event.id, event);
    this.#scopes.add(kind, event.id, attributed.stepId);
    emit(attributed);
  }

  #startToolInput(event: EventOf<'tool-input-start'>, emit: Emit<AgentEvent>): void {
    if (!this.#reserveId(event.toolCallId, event)) return;
    const attributed = this.#addPart(event.toolCallId, event);
    this.#calls.start(attributed);
    this.#scopes.add('tool-input', event.toolCallId, attributed.stepId);
    emit(attributed);
  }

  #completeCall(event: EventOf<'tool-call'>, emit: Emit<AgentEvent>): void {
    const known = this.#calls.calls.get(event.toolCallId);
    if (known === undefined) {
      if (!this.#reserveId(event.toolCallId, event)) return;
    } else if (known.state !== 'partial-call') {
      return this.#reportInvalid(event, event.toolCallId, 'The call is already complete.');
    }
    const open = this.#scopes.get('tool-input', event.toolCallId);
    if (open) {
      this.#reportInvalid(event, event.toolCallId, 'Its input was still open and was closed.');
      this.#closeScope(open, { outcome: 'complete' }, getTime(event), emit);
    }
    const attributed = known?.inputStart
      ? mergeWithInputStart(event, known.inputStart)
      : this.#addPart(event.toolCallId, event);
    this.#calls.complete(attributed, known);
    emit(attributed);
  }

  #endStep(event: EventOf<'step-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#scopes.has('step', event.stepId))
      return this.#reportInvalid(event, event.stepId, 'The step is not open.');
    for (const scope of this.#scopes.listNewestFirst()) {
      if (scope.stepId !== event.stepId) continue;
      this.#reportInvalid(event, scope.id, `The ${scope.kind} was open when its step ended and was closed.`);
      this.#closeScope(scope, { outcome: 'complete' }, getTime(event), emit);
    }
    this.#scopes.delete('step', event.stepId);
    if (event.discarded) this.#discardStep(event.stepId);
    emit(event);
  }

  /** Removes the parts of a discarded step. Their ids stay reserved. */
  #discardStep(discarded: string): void {
    this.#calls.discardStep(discarded);
    for (const [id, stepId] of this.#parts) {
      if (stepId !== discarded) continue;
      this.#parts.delete(id);
      this.#values.deleteData(id);
    }
  }

  #ask(event: EventOf<'question'>, emit: Emit<AgentEvent>): void {
    const asked = this.#calls.ask(event);
    if (asked) emit(this.#agents.dropUnknownAgent(asked, event.questionId));
  }

  #setData(event: EventOf<'data'>, emit: Emit<AgentEvent>): void {
    const wasTransient = this.#values.isTransient(event.id);
    const isTransient = event.transient === true;
    const isNew = wasTransient === undefined;
    if (!isNew && wasTransient !== isTransient) {
      const kind = wasTransient ? 'transient' : 'stored';
      return this.#reportInvalid(event, event.id, `The id is already used by ${kind} data.`);
    }
    if (isNew && !this.#reserveId(event.id, event)) return;
    this.#values.setData(event.id, event.data, isTransient);
    emit(isNew ? this.#addPart(event.id, event) : this.#agents.checkAttribution(event));
  }

  #patchData(event: EventOf<'data-delta'>, emit: Emit<AgentEvent>): void {
    const why = this.#values.patchData(event.id, event.patch);
    if (why === undefined) emit(event);
    else this.#reportInvalid(event, event.id, why);
  }

  #patchState(event: EventOf<'state-delta'>, emit: Emit<AgentEvent>): void {
    if (!this.#values.hasState) {
      this.#values.setState({});
      emit({ type: 'state-snapshot', state: {}, ...getTime(event) });
    }
    const why = this.#values.patchState(event.patch);
    if (why === undefined) emit(event);
    else this.#reportInvalid(event, undefined, why);
  }

  #applySnapshot(event: EventOf<'message-snapshot'>, emit: Emit<AgentEvent>): void {
    const part = this.#scopes.listNewestFirst().findLast(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) return this.#reportInvalid(event, part.id, `The ${part.kind} is open.`);
    const { calls, questions } = this.#calls;
    const known = { calls, questions, earlierRuns: this.#earlierRuns };
    const regression = findSnapshotRegression(known, event.content);
    if (regression) return this.#reportInvalid(event, regression.id, regression.why);
    this.#addFromSnapshot(event.content);
    emit(event);
  }

  /** Adds the content of a baseline or a correction to the known state. */
  #addFromSnapshot(content: MessageContent): void {
    const earlier = { texts: new Map<string, string>(), runs: new Set(content.runs?.map(({ runId }) => runId)) };
    for (const part of content.parts) {
      if (part.type === 'tool-invocation') {
        this.#registerPart(part.toolCallId, part.stepId);
        this.#calls.addFromSnapshot(part);
      } else if (part.type === 'question') this.#calls.addQuestion(part);
      else if (part.id !== undefined) {
        this.#registerPart(part.id, part.stepId);
        if (part.type === 'data') this.#values.setData(part.id, part.data, false);
        const text = getText(part);
        if (text !== undefined) earlier.texts.set(part.id, text);
      }
    }
    this.#earlierRuns ??= earlier;
    this.#agents.addFromSnapshot(content);
  }

  #registerPart(id: string, stepId: string | undefined): void {
    this.#ids.add(id);
    this.#parts.set(id, stepId);
  }

  #emitIfOpen(kind: OpenScope['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#scopes.has(kind, id)) emit(event);
    else this.#reportInvalid(event, id, `No open ${kind} has this id.`);
  }

  #closePart(kind: OpenScope['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#scopes.delete(kind, id)) emit(event);
    else this.#reportInvalid(event, id, `No open ${kind} has this id.`);
  }

  #reserveId(id: string, event: AgentEvent): boolean {
    if (this.#ids.has(id)) {
      this.#reportInvalid(event, id, 'The id is already used.');
      return false;
    }
    this.#ids.add(id);
    return true;
  }

  #addPart<E extends AgentEvent & Attribution>(id: string, event: E): E {
    const attributed = this.#agents.checkAttribution(event);
    this.#parts.set(id, attributed.stepId);
    return attributed;
  }
}

/** Merges a `tool-call` with its `tool-input-start`. The start wins; the call adds the fields that the start lacks. */
function mergeWithInputStart(
  event: EventOf<'tool-call'>,
  inputStart: EventOf<'tool-input-start'>,
): EventOf<'tool-call'> {
  const call = omit(event, 'agentId', 'stepId', 'to', 'internal');
  const start = omit(inputStart, 'type', 'at', 'origin', 'providerMetadata');
  return { ...call, ...start };
}

function getTime({ at }: AgentEvent): Time {
  return at === undefined ? {} : { at };
}

/** Outcome of an agent that ends with its run. `waitingFor` stays with the run. */
function toAgentOutcome(outcome: Outcome): Outcome {
  return outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : toOutcome(outcome);
}
