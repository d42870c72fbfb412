import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import type { OnLoss } from '../json/loss.ts';
import type { MessageContent } from '../event/message.ts';
import { misfitsTo, type Misfit } from './report-invalid-event.ts';
import { OpenThings, type Open } from './open-scopes.ts';
import type { Outcome, Waiting } from '../event/outcome.ts';
import { toOutcome } from './to-outcome.ts';
import type { Attribution } from '../event/part-body.ts';
import { RunAgents } from './run-agents.ts';
import { RunCalls } from './run-calls.ts';
import { RunValues } from './run-values.ts';
import { takenBack, textOf, type Earlier } from './find-snapshot-regression.ts';

type Time = { at?: number };

/** What an event may refer to, of this run and of its baseline; and what is open. Lets through what keeps the invariants. */
export class RunGuard {
  #misfit: Misfit;
  #open = new OpenThings();
  #agents: RunAgents;
  #calls: RunCalls;
  #values = new RunValues();
  /** Part ids and tool call ids: one name space. */
  #ids = new Set<string>();
  /** Parts that are there, with their step: a discarded step takes its parts with it, but their ids stay taken. */
  #parts = new Map<string, string | undefined>();
  /** What earlier runs have said and how they ended: this run adds to it, and edits nothing. */
  #earlier: Earlier | undefined;

  constructor(onLoss: OnLoss) {
    this.#misfit = misfitsTo(onLoss);
    this.#agents = new RunAgents(this.#open, this.#misfit);
    this.#calls = new RunCalls(this.#misfit);
  }

  isPending(waiting: Waiting): boolean {
    return this.#calls.isPending(waiting);
  }

  /** Emits the event, mended if need be and with what must come before it, or reports why not. */
  admit(event: AgentEvent, emit: Emit<AgentEvent>): void {
    switch (event.type) {
      case 'text-delta':
        return this.#ifOpen('text', event.id, event, emit);
      case 'reasoning-delta':
        return this.#ifOpen('reasoning', event.id, event, emit);
      case 'tool-input-delta':
        return this.#ifOpen('tool-input', event.toolCallId, event, emit);
      case 'text-start':
        return this.#openPart('text', event, emit);
      case 'reasoning-start':
        return this.#openPart('reasoning', event, emit);
      case 'text-end':
        return this.#close('text', event.id, event, emit);
      case 'reasoning-end':
        return this.#close('reasoning', event.id, event, emit);
      case 'tool-input-start':
        return this.#toolInputStart(event, emit);
      case 'tool-input-end':
        return this.#close('tool-input', event.toolCallId, event, emit);
      case 'tool-call':
        return this.#toolCall(event, emit);
      case 'tool-result':
        return this.#calls.settle(event, emit);
      case 'agent-start':
        return this.#agents.start(event, emit);
      case 'agent-end':
        return this.#agents.end(event, emit);
      case 'step-start':
        return this.#agents.startStep(event, emit);
      case 'step-end':
        return this.#stepEnd(event, emit);
      case 'question':
        return this.#question(event, emit);
      case 'answer':
        return this.#calls.answer(event, emit);
      case 'interjection':
      case 'file':
      case 'source':
        if (this.#takeId(event.id, event)) emit(this.#placed(event.id, event));
        return;
      case 'data':
        return this.#dataPart(event, emit);
      case 'data-delta':
        return this.#dataDelta(event, emit);
      case 'state-snapshot':
        this.#values.setState(event.state);
        return emit(event);
      case 'state-delta':
        return this.#stateDelta(event, emit);
      case 'message-snapshot':
        return this.#snapshot(event, emit);
      case 'metadata':
        if (event.id === undefined || this.#parts.has(event.id)) emit(event);
        else this.#misfit(event, event.id, 'There is no such part.');
        return;
      case 'notice':
      case 'raw':
        return emit(event);
      case 'run-start':
      case 'run-end':
        // The frame is the seal's own.
        return;
    }
  }

  /** Each invalid call has a result, also if nobody gave one. */
  settleInvalid(time: Time, emit: Emit<AgentEvent>): void {
    this.#calls.settleInvalid(time, emit);
  }

  /** Closes what is open, the last opened first. */
  closeAll(outcome: Outcome, time: Time, emit: Emit<AgentEvent>): void {
    for (const open of this.#open.lastFirst()) this.#closeOpen(open, outcome, time, emit);
  }

  #closeOpen({ kind, id }: Open, outcome: Outcome, time: Time, emit: Emit<AgentEvent>): void {
    this.#open.delete(kind, id);
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
        this.#agents.ended(id, outcome.outcome);
        return emit({ type: 'agent-end', agentId: id, ...agentOutcome(outcome), ...time });
    }
  }

  #openPart(
    kind: 'text' | 'reasoning',
    event: EventOf<'text-start' | 'reasoning-start'>,
    emit: Emit<AgentEvent>,
  ): void {
    if (!this.#takeId(event.id, event)) return;
    const attributed = this.#placed(event.id, event);
    this.#open.add(kind, event.id, attributed.stepId);
    emit(attributed);
  }

  #toolInputStart(event: EventOf<'tool-input-start'>, emit: Emit<AgentEvent>): void {
    if (!this.#takeId(event.toolCallId, event)) return;
    const attributed = this.#placed(event.toolCallId, event);
    this.#calls.opened(attributed);
    this.#open.add('tool-input', event.toolCallId, attributed.stepId);
    emit(attributed);
  }

  #toolCall(event: EventOf<'tool-call'>, emit: Emit<AgentEvent>): void {
    const known = this.#calls.calls.get(event.toolCallId);
    if (known === undefined) {
      if (!this.#takeId(event.toolCallId, event)) return;
    } else if (known.state !== 'partial-call') {
      return this.#misfit(event, event.toolCallId, 'The call is complete already.');
    }
    const open = this.#open.get('tool-input', event.toolCallId);
    if (open) {
      this.#misfit(event, event.toolCallId, 'Its input was still open, and has been closed.');
      this.#closeOpen(open, { outcome: 'complete' }, timeOf(event), emit);
    }
    const attributed = known?.said ? asOpened(event, known.said) : this.#placed(event.toolCallId, event);
    this.#calls.called(attributed, known);
    emit(attributed);
  }

  #stepEnd(event: EventOf<'step-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#open.has('step', event.stepId)) return this.#misfit(event, event.stepId, 'The step is not open.');
    for (const open of this.#open.lastFirst()) {
      if (open.stepId !== event.stepId) continue;
      this.#misfit(event, open.id, `The ${open.kind} was open when its step ended, and has been closed.`);
      this.#closeOpen(open, { outcome: 'complete' }, timeOf(event), emit);
    }
    this.#open.delete('step', event.stepId);
    if (event.discarded) this.#discard(event.stepId);
    emit(event);
  }

  /** What was said in the step never happened. Its ids stay taken. */
  #discard(discarded: string): void {
    this.#calls.discard(discarded);
    for (const [id, stepId] of this.#parts) {
      if (stepId !== discarded) continue;
      this.#parts.delete(id);
      this.#values.forgetData(id);
    }
  }

  #question(event: EventOf<'question'>, emit: Emit<AgentEvent>): void {
    const asked = this.#calls.ask(event);
    if (asked) emit(this.#agents.ofKnownAgent(asked, event.questionId));
  }

  #dataPart(event: EventOf<'data'>, emit: Emit<AgentEvent>): void {
    const wasTransient = this.#values.isTransient(event.id);
    const isTransient = event.transient === true;
    const isNew = wasTransient === undefined;
    if (!isNew && wasTransient !== isTransient) {
      return this.#misfit(event, event.id, `The id is that of ${wasTransient ? 'transient' : 'kept'} data.`);
    }
    if (isNew && !this.#takeId(event.id, event)) return;
    this.#values.setData(event.id, event.data, isTransient);
    emit(isNew ? this.#placed(event.id, event) : this.#agents.attributed(event));
  }

  #dataDelta(event: EventOf<'data-delta'>, emit: Emit<AgentEvent>): void {
    const why = this.#values.patchData(event.id, event.patch);
    if (why === undefined) emit(event);
    else this.#misfit(event, event.id, why);
  }

  #stateDelta(event: EventOf<'state-delta'>, emit: Emit<AgentEvent>): void {
    if (!this.#values.hasState) {
      this.#values.setState({});
      emit({ type: 'state-snapshot', state: {}, ...timeOf(event) });
    }
    const why = this.#values.patchState(event.patch);
    if (why === undefined) emit(event);
    else this.#misfit(event, undefined, why);
  }

  #snapshot(event: EventOf<'message-snapshot'>, emit: Emit<AgentEvent>): void {
    const part = this.#open.lastFirst().findLast(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) return this.#misfit(event, part.id, `The ${part.kind} is open.`);
    const { calls, questions } = this.#calls;
    const known = { calls, questions, earlier: this.#earlier };
    const breach = takenBack(known, event.content);
    if (breach) return this.#misfit(event, breach.id, breach.why);
    this.#learn(event.content);
    emit(event);
  }

  /** What a baseline or a correction says becomes known. */
  #learn(content: MessageContent): void {
    const earlier = { texts: new Map<string, string>(), runs: new Set(content.runs?.map(({ runId }) => runId)) };
    for (const part of content.parts) {
      if (part.type === 'tool-invocation') {
        this.#learnPart(part.toolCallId, part.stepId);
        this.#calls.learn(part);
      } else if (part.type === 'question') this.#calls.learnQuestion(part);
      else if (part.id !== undefined) {
        this.#learnPart(part.id, part.stepId);
        if (part.type === 'data') this.#values.setData(part.id, part.data, false);
        const text = textOf(part);
        if (text !== undefined) earlier.texts.set(part.id, text);
      }
    }
    this.#earlier ??= earlier;
    this.#agents.learn(content);
  }

  #learnPart(id: string, stepId: string | undefined): void {
    this.#ids.add(id);
    this.#parts.set(id, stepId);
  }

  #ifOpen(kind: Open['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#open.has(kind, id)) emit(event);
    else this.#misfit(event, id, `No ${kind} of that id is open.`);
  }

  #close(kind: Open['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#open.delete(kind, id)) emit(event);
    else this.#misfit(event, id, `No ${kind} of that id is open.`);
  }

  #takeId(id: string, event: AgentEvent): boolean {
    if (this.#ids.has(id)) {
      this.#misfit(event, id, 'The id is taken.');
      return false;
    }
    this.#ids.add(id);
    return true;
  }

  #placed<E extends AgentEvent & Attribution>(id: string, event: E): E {
    const attributed = this.#agents.attributed(event);
    this.#parts.set(id, attributed.stepId);
    return attributed;
  }
}

/** `tool-call` repeats what `tool-input-start` said; the opening decides, and the call adds what was not known. */
function asOpened(event: EventOf<'tool-call'>, said: EventOf<'tool-input-start'>): EventOf<'tool-call'> {
  const call = omit(event, 'agentId', 'stepId', 'to', 'internal');
  const opening = omit(said, 'type', 'at', 'origin', 'providerMetadata');
  return { ...call, ...opening };
}

function timeOf({ at }: AgentEvent): Time {
  return at === undefined ? {} : { at };
}

/** An agent that was cut off ends as its run does; what the run waits for is the run's to say. */
function agentOutcome(outcome: Outcome): Outcome {
  return outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : toOutcome(outcome);
}
