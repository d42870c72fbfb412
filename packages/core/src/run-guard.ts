import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from './event.ts';
import type { Fault } from './fault.ts';
import { applyPatch } from './json-patch.ts';
import type { Json } from './json.ts';
import type { OnLoss } from './loss.ts';
import type { AskedQuestion, MessageContent, ToolState } from './message.ts';
import type { Outcome, Waiting } from './outcome.ts';
import type { Said } from './part-body.ts';
import { OpenThings, type Open } from './open-things.ts';
import { takenBack, textOf, type Earlier } from './taken-back.ts';
import { isSettled } from './tool-part.ts';

type Time = { at?: number };
/** `said` is what the opening said of a call that was streamed, and what therefore holds. */
type Call = { state: ToolState; invalid?: Fault; stepId?: string; said?: EventOf<'tool-input-start'> };

/** What an event may refer to, of this run and of its baseline; and what is open. Lets through what keeps the invariants. */
export class RunGuard {
  #onLoss: OnLoss;
  #open = new OpenThings();
  /** Part ids and tool call ids: one name space. */
  #ids = new Set<string>();
  #calls = new Map<string, Call>();
  #questions = new Map<string, { answered: boolean; toolCallId: string | undefined }>();
  #questionIds = new Set<string>();
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  /** The agent of each step, ended or not. */
  #steps = new Map<string, string | undefined>();
  /** Parts that are there, with their step: a discarded step takes its parts with it, but their ids stay taken. */
  #parts = new Map<string, string | undefined>();
  #data = new Map<string, { value: Json; transient: boolean }>();
  /** What earlier runs have said and how they ended: this run adds to it, and edits nothing. */
  #earlier: Earlier | undefined;
  #state: Json | undefined;
  /** What patches have made, and may change again. Few runs have any. */
  #owned: WeakSet<object> | undefined;

  constructor(onLoss: OnLoss) {
    this.#onLoss = onLoss;
  }

  isPending(waiting: Waiting): boolean {
    if (waiting.type === 'message') return true;
    if (waiting.type === 'question') return this.#questions.get(waiting.questionId)?.answered === false;
    return this.#calls.get(waiting.toolCallId)?.state === 'call';
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
        return this.#toolResult(event, emit);
      case 'agent-start':
        return this.#agentStart(event, emit);
      case 'agent-end':
        return this.#agentEnd(event, emit);
      case 'step-start':
        return this.#stepStart(event, emit);
      case 'step-end':
        return this.#stepEnd(event, emit);
      case 'question':
        return this.#question(event, emit);
      case 'answer':
        return this.#answer(event, emit);
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
        this.#state = event.state;
        return emit(event);
      case 'state-delta':
        return this.#stateDelta(event, emit);
      case 'message-snapshot':
        return this.#snapshot(event, emit);
      case 'metadata':
        if (event.id === undefined || this.#parts.has(event.id)) emit(event);
        else this.#drop(event, event.id, 'There is no such part.');
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
    for (const [toolCallId, call] of this.#calls) {
      if (!call.invalid || call.state !== 'call') continue;
      call.state = 'error';
      emit({ type: 'tool-result', toolCallId, status: 'error', error: call.invalid, ...time });
    }
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
        this.#agents.set(id, outcome.outcome === 'paused' ? 'paused' : 'ended');
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
    this.#calls.set(event.toolCallId, { state: 'partial-call', said: attributed, ...stepOf(attributed) });
    this.#open.add('tool-input', event.toolCallId, attributed.stepId);
    emit(attributed);
  }

  #toolCall(event: EventOf<'tool-call'>, emit: Emit<AgentEvent>): void {
    const known = this.#calls.get(event.toolCallId);
    if (known === undefined) {
      if (!this.#takeId(event.toolCallId, event)) return;
    } else if (known.state !== 'partial-call') {
      return this.#drop(event, event.toolCallId, 'The call is complete already.');
    }
    const open = this.#open.get('tool-input', event.toolCallId);
    if (open) {
      this.#repaired(event, event.toolCallId, 'Its input was still open, and has been closed.');
      this.#closeOpen(open, { outcome: 'complete' }, timeOf(event), emit);
    }
    const attributed = known?.said ? asOpened(event, known.said) : this.#placed(event.toolCallId, event);
    this.#calls.set(event.toolCallId, {
      state: 'call',
      ...(event.invalid && { invalid: event.invalid }),
      ...stepOf(known ?? attributed),
    });
    emit(attributed);
  }

  #toolResult(event: EventOf<'tool-result'>, emit: Emit<AgentEvent>): void {
    const call = this.#calls.get(event.toolCallId);
    if (call === undefined) return this.#drop(event, event.toolCallId, 'There is no such call.');
    if (call.state === 'partial-call') return this.#drop(event, event.toolCallId, 'The call is not complete.');
    if (isSettled(call.state)) return this.#drop(event, event.toolCallId, 'The call has its result already.', 'late');
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
    emit(event);
  }

  #agentStart(event: EventOf<'agent-start'>, emit: Emit<AgentEvent>): void {
    const known = this.#agents.get(event.agentId);
    if (known === 'open' || known === 'ended') {
      return this.#drop(event, event.agentId, 'The agent has started already, and did not end paused.');
    }
    this.#agents.set(event.agentId, 'open');
    this.#open.add('agent', event.agentId);
    emit(event);
  }

  #agentEnd(event: EventOf<'agent-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#open.delete('agent', event.agentId))
      return this.#drop(event, event.agentId, 'The agent is not at work.');
    this.#agents.set(event.agentId, event.outcome === 'paused' ? 'paused' : 'ended');
    emit(event);
  }

  #stepStart(event: EventOf<'step-start'>, emit: Emit<AgentEvent>): void {
    if (this.#steps.has(event.stepId))
      return this.#drop(event, event.stepId, 'A step of that id has been started before.');
    const { agentId, ...rest } = event;
    const known = agentId === undefined || this.#agents.has(agentId);
    if (!known) this.#repaired(event, event.stepId, `Its agent ${agentId} has not started.`);
    this.#steps.set(event.stepId, known ? agentId : undefined);
    this.#open.add('step', event.stepId);
    emit(known ? event : rest);
  }

  #stepEnd(event: EventOf<'step-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#open.has('step', event.stepId)) return this.#drop(event, event.stepId, 'The step is not open.');
    for (const open of this.#open.lastFirst()) {
      if (open.stepId !== event.stepId) continue;
      this.#repaired(event, open.id, `The ${open.kind} was open when its step ended, and has been closed.`);
      this.#closeOpen(open, { outcome: 'complete' }, timeOf(event), emit);
    }
    this.#open.delete('step', event.stepId);
    if (event.discarded) {
      // Its calls never happened: nothing waits for them, and a snapshot may leave them out. Their ids stay taken.
      for (const [id, { stepId }] of this.#calls) if (stepId === event.stepId) this.#calls.delete(id);
      for (const [id, stepId] of this.#parts) {
        if (stepId !== event.stepId) continue;
        this.#parts.delete(id);
        this.#data.delete(id);
      }
      for (const [id, { toolCallId }] of this.#questions) {
        if (toolCallId !== undefined && !this.#calls.has(toolCallId)) this.#questions.delete(id);
      }
    }
    emit(event);
  }

  #question(event: EventOf<'question'>, emit: Emit<AgentEvent>): void {
    if (this.#questionIds.has(event.questionId))
      return this.#drop(event, event.questionId, 'It has been asked before.');
    this.#questionIds.add(event.questionId);
    const { toolCallId, ...free } = event;
    const known = toolCallId === undefined || this.#calls.has(toolCallId);
    if (!known) this.#repaired(event, event.questionId, `It is about the call ${toolCallId}, which does not exist.`);
    const asked: EventOf<'question'> = known ? event : free;
    this.#questions.set(event.questionId, { answered: false, toolCallId: asked.toolCallId });
    emit(this.#ofKnownAgent(asked, event.questionId));
  }

  #answer(event: EventOf<'answer'>, emit: Emit<AgentEvent>): void {
    const question = this.#questions.get(event.questionId);
    if (question === undefined) return this.#drop(event, event.questionId, 'There is no such question.');
    if (question.answered) return this.#drop(event, event.questionId, 'The question is answered already.', 'late');
    question.answered = true;
    emit(event);
  }

  #dataPart(event: EventOf<'data'>, emit: Emit<AgentEvent>): void {
    const before = this.#data.get(event.id);
    const transient = event.transient === true;
    if (before && before.transient !== transient) {
      return this.#drop(event, event.id, `The id is that of ${before.transient ? 'transient' : 'kept'} data.`);
    }
    if (!before && !this.#takeId(event.id, event)) return;
    this.#data.set(event.id, { value: event.data, transient });
    emit(before ? this.#attributed(event) : this.#placed(event.id, event));
  }

  #dataDelta(event: EventOf<'data-delta'>, emit: Emit<AgentEvent>): void {
    const before = this.#data.get(event.id);
    if (before === undefined) return this.#drop(event, event.id, 'There is no such data.');
    const patched = applyPatch(before.value, event.patch, (this.#owned ??= new WeakSet()));
    if (!patched.ok) return this.#drop(event, event.id, `Its operation ${patched.index} fails: ${patched.message}.`);
    before.value = patched.value;
    emit(event);
  }

  #stateDelta(event: EventOf<'state-delta'>, emit: Emit<AgentEvent>): void {
    if (this.#state === undefined) {
      this.#state = {};
      emit({ type: 'state-snapshot', state: {}, ...timeOf(event) });
    }
    const patched = applyPatch(this.#state, event.patch, (this.#owned ??= new WeakSet()));
    if (!patched.ok) return this.#drop(event, undefined, `Its operation ${patched.index} fails: ${patched.message}.`);
    this.#state = patched.value;
    emit(event);
  }

  #snapshot(event: EventOf<'message-snapshot'>, emit: Emit<AgentEvent>): void {
    const part = this.#open.lastFirst().findLast(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) return this.#drop(event, part.id, `The ${part.kind} is open.`);
    const known = { calls: this.#calls, questions: this.#questions, earlier: this.#earlier };
    const breach = takenBack(known, event.content);
    if (breach) return this.#drop(event, breach.id, breach.why);
    this.#learn(event.content);
    emit(event);
  }

  /** What a baseline or a correction says becomes known. */
  #learn(content: MessageContent): void {
    const earlier = { texts: new Map<string, string>(), runs: new Set(content.runs?.map(({ runId }) => runId)) };
    for (const part of content.parts) {
      if (part.type === 'tool-invocation') {
        this.#learnPart(part.toolCallId, part.stepId);
        this.#calls.set(part.toolCallId, {
          ...this.#calls.get(part.toolCallId),
          state: part.state,
          ...(part.invalid && { invalid: part.error ?? { message: 'The call is invalid.' } }),
        });
        if (part.approval) this.#learnQuestion(part.approval);
      } else if (part.type === 'question') this.#learnQuestion(part);
      else if (part.id !== undefined) {
        this.#learnPart(part.id, part.stepId);
        if (part.type === 'data') this.#data.set(part.id, { value: part.data, transient: false });
        const text = textOf(part);
        if (text !== undefined) earlier.texts.set(part.id, text);
      }
    }
    this.#earlier ??= earlier;
    for (const [agentId, { outcome }] of Object.entries(content.agents ?? {})) {
      if (!this.#agents.has(agentId)) this.#agents.set(agentId, outcome === 'paused' ? 'paused' : 'ended');
    }
    for (const [stepId, { agentId }] of Object.entries(content.steps ?? {})) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, agentId);
    }
  }

  #learnPart(id: string, stepId: string | undefined): void {
    this.#ids.add(id);
    this.#parts.set(id, stepId);
  }

  #learnQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questionIds.add(questionId);
    this.#questions.set(questionId, { answered: answer !== undefined, toolCallId });
  }

  #ifOpen(kind: Open['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#open.has(kind, id)) emit(event);
    else this.#drop(event, id, `No ${kind} of that id is open.`);
  }

  #close(kind: Open['kind'], id: string, event: AgentEvent, emit: Emit<AgentEvent>): void {
    if (this.#open.delete(kind, id)) emit(event);
    else this.#drop(event, id, `No ${kind} of that id is open.`);
  }

  #takeId(id: string, event: AgentEvent): boolean {
    if (this.#ids.has(id)) {
      this.#drop(event, id, 'The id is taken.');
      return false;
    }
    this.#ids.add(id);
    return true;
  }

  #placed<E extends AgentEvent & Said>(id: string, event: E): E {
    const attributed = this.#attributed(event);
    this.#parts.set(id, attributed.stepId);
    return attributed;
  }

  /**
   * A part of an agent that has not started, or of a step that is not open or is another agent's, goes without. One that
   * names its step alone is of that step's agent.
   */
  #attributed<E extends AgentEvent & Said>(event: E): E {
    const said = this.#ofKnownAgent(event, undefined);
    if (said.stepId === undefined) return said;
    if (!this.#open.has('step', said.stepId)) return this.#withoutStep(said, `Its step ${said.stepId} is not open.`);
    const agentId = this.#steps.get(said.stepId);
    if (said.agentId === undefined && agentId !== undefined) return { ...said, agentId };
    return agentId === said.agentId ? said : this.#withoutStep(said, `Its step ${said.stepId} is another agent's.`);
  }

  #ofKnownAgent<E extends AgentEvent & { agentId?: string }>(event: E, id: string | undefined): E {
    if (event.agentId === undefined || this.#agents.has(event.agentId)) return event;
    this.#repaired(event, id, `Its agent ${event.agentId} has not started.`);
    const { agentId: _, ...rest } = event;
    return rest as E;
  }

  #withoutStep<E extends AgentEvent & Said>(event: E, why: string): E {
    this.#repaired(event, undefined, why);
    const { stepId: _, ...rest } = event;
    return rest as E;
  }

  #drop(event: AgentEvent, id: string | undefined, why: string, kind: 'repaired' | 'late' = 'repaired'): void {
    this.#onLoss({ kind, what: event.type, why, ...(id !== undefined && { id }) });
  }

  #repaired(event: AgentEvent, id: string | undefined, why: string): void {
    this.#drop(event, id, why);
  }
}

/** `tool-call` repeats what `tool-input-start` said; the opening decides, and the call adds what was not known. */
function asOpened(event: EventOf<'tool-call'>, said: EventOf<'tool-input-start'>): EventOf<'tool-call'> {
  const { agentId: _, stepId: __, to: ___, internal: ____, ...call } = event;
  const { type: _____, at: ______, origin: _______, providerMetadata: ________, ...opening } = said;
  return { ...call, ...opening };
}

function timeOf({ at }: AgentEvent): Time {
  return at === undefined ? {} : { at };
}

function stepOf({ stepId }: Said): { stepId?: string } {
  return stepId === undefined ? {} : { stepId };
}

/** An agent that was cut off ends as its run does; what the run waits for is the run's to say. */
function agentOutcome(outcome: Outcome): Outcome {
  switch (outcome.outcome) {
    case 'paused':
      return { outcome: 'paused', waitingFor: [] };
    case 'aborted': {
      const { by, reason } = outcome;
      return { outcome: 'aborted', ...(by && { by }), ...(reason !== undefined && { reason }) };
    }
    case 'error':
      return { outcome: 'error', error: outcome.error };
    case 'complete':
      return { outcome: 'complete' };
  }
}
