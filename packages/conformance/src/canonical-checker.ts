import {
  applyPatch,
  equalJson,
  isEventType,
  validateEvent,
  type AgentEvent,
  type AskedQuestion,
  type Checker,
  type EventOf,
  type Json,
  type MessageContent,
  type Op,
  type Report,
  type Waiting,
} from '@intertie/core';
import type { CanonicalRule } from './canonical-rules.ts';
import { settled, snapshotBreaches, type CallRecord, type QuestionRecord } from './snapshot-breaches.ts';

type Kind = 'text' | 'reasoning' | 'tool-input' | 'step' | 'agent';
type OpenThing = { kind: Kind; id: string; stepId: string | undefined };
type Said = { agentId?: string; stepId?: string };

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

/**
 * Checks the invariants of one canonical run. Written from the grammar and on its own, so that `seal`, which keeps the
 * invariants, and this checker, which looks for breaches, test each other.
 */
export class CanonicalChecker implements Checker {
  #seen = 0;
  #run: EventOf<'run-start'> | undefined;
  #ended = false;
  #open: OpenThing[] = [];
  #partIds = new Set<string>();
  #calls = new Map<string, CallRecord>();
  #questions = new Map<string, QuestionRecord>();
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  #steps = new Map<string, { agentId: string | undefined; open: boolean }>();
  /** Parts that are there, with their step. */
  #parts = new Map<string, string | undefined>();
  #data = new Map<string, { value: Json; transient: boolean }>();
  /** What the baseline says: the words and the runs before this one. */
  #earlier: MessageContent | undefined;
  #state: { value: Json } | undefined;
  #owned = new WeakSet<object>();
  #report!: Report;

  feed(item: unknown, report: Report): void {
    this.#report = report;
    const problem = validateEvent(item);
    const type = (item as { type?: unknown } | null)?.type;
    if (problem && typeof type === 'string' && !isEventType(type)) {
      report.loss({
        kind: 'unsupported',
        what: type,
        why: 'This version does not know the type, and reads it as raw.',
      });
    } else if (problem) {
      this.#broken('C0-shape', problem.message, problem.path);
    }
    if (!problem) this.#event(item as AgentEvent);
    this.#seen++;
  }

  end(report: Report): void {
    this.#report = report;
    if (!this.#run) this.#broken('C1-start', 'The stream has no run-start.');
    if (!this.#ended) this.#broken('C1-end', 'The stream ends without run-end.');
  }

  #event(event: AgentEvent): void {
    if (this.#ended) this.#broken('C1-end', `${event.type} comes after run-end.`);
    if (this.#seen === 0 && event.type !== 'run-start')
      this.#broken('C1-start', `${event.type} comes before run-start.`);
    if (this.#seen === 1 && this.#run?.resumes !== undefined && event.type !== 'message-snapshot') {
      this.#broken('C7-baseline', `The run continues ${this.#run.resumes}, and ${event.type} is its second event.`);
    }
    switch (event.type) {
      case 'run-start':
        if (this.#run) this.#broken('C1-start', 'There is a second run-start.');
        this.#run ??= event;
        return;
      case 'run-end':
        return this.#runEnd(event);
      case 'message-snapshot':
        return this.#snapshot(event.content);
      case 'metadata':
        if (event.id !== undefined && !this.#parts.has(event.id)) {
          this.#broken('C4-refer', `There is no part ${event.id}.`, 'id');
        }
        return;
      case 'agent-start':
        if (['open', 'ended'].includes(this.#agents.get(event.agentId) ?? '')) {
          this.#broken('C2-name', `The agent ${event.agentId} has started before.`, 'agentId');
        }
        this.#agents.set(event.agentId, 'open');
        return this.#opened('agent', event.agentId);
      case 'agent-end':
        this.#closed('agent', event.agentId);
        this.#agents.set(event.agentId, event.outcome === 'paused' ? 'paused' : 'ended');
        return;
      case 'step-start':
        if (this.#steps.has(event.stepId))
          this.#broken('C2-name', `The step ${event.stepId} has started before.`, 'stepId');
        this.#knownAgent(event.agentId);
        this.#steps.set(event.stepId, { agentId: event.agentId, open: true });
        return this.#opened('step', event.stepId);
      case 'step-end':
        return this.#stepEnd(event);
      case 'text-start':
      case 'reasoning-start':
        this.#newPart(event.id, event);
        return this.#opened(event.type === 'text-start' ? 'text' : 'reasoning', event.id, event.stepId);
      case 'text-delta':
        return this.#needsOpen('text', event.id);
      case 'reasoning-delta':
        return this.#needsOpen('reasoning', event.id);
      case 'text-end':
        return this.#closed('text', event.id);
      case 'reasoning-end':
        return this.#closed('reasoning', event.id);
      case 'tool-input-start':
        this.#newPart(event.toolCallId, event);
        this.#calls.set(event.toolCallId, { state: 'partial-call', invalid: false, opening: event });
        return this.#opened('tool-input', event.toolCallId, event.stepId);
      case 'tool-input-delta':
        return this.#needsOpen('tool-input', event.toolCallId);
      case 'tool-input-end':
        return this.#closed('tool-input', event.toolCallId);
      case 'tool-call':
        return this.#toolCall(event);
      case 'tool-result':
        return this.#toolResult(event);
      case 'question':
        return this.#question(event);
      case 'answer':
        return this.#answer(event);
      case 'interjection':
      case 'file':
      case 'source':
        return this.#newPart(event.id, event);
      case 'data':
        return this.#dataPart(event);
      case 'data-delta': {
        const before = this.#data.get(event.id);
        if (before === undefined) return this.#broken('C4-refer', `There is no data ${event.id}.`, 'id');
        before.value = this.#patched(before.value, event.patch) ?? before.value;
        return;
      }
      case 'state-snapshot':
        this.#state = { value: event.state };
        return;
      case 'state-delta': {
        if (!this.#state) return this.#broken('C8-state', 'A state-delta comes before any state-snapshot.');
        const value = this.#patched(this.#state.value, event.patch);
        if (value !== undefined) this.#state = { value };
        return;
      }
      case 'notice':
      case 'raw':
        return;
    }
  }

  #runEnd(event: EventOf<'run-end'>): void {
    this.#ended = true;
    for (const { kind, id } of this.#open) this.#broken('C3-close', `The ${kind} ${id} is still open.`);
    for (const [id, call] of this.#calls) {
      if (call.invalid && call.state === 'call' && !call.discarded)
        this.#broken('C4-invalid', `The invalid call ${id} has no result.`);
    }
    if (event.outcome !== 'paused') return;
    if (event.waitingFor.length === 0)
      this.#broken('C5-waiting', 'The run is paused and waits for nothing.', 'waitingFor');
    for (const [index, waiting] of event.waitingFor.entries()) {
      if (!this.#isPending(waiting)) {
        this.#broken('C5-waiting', 'What the run waits for is not pending.', `waitingFor[${index}]`);
      }
    }
  }

  #isPending(waiting: Waiting): boolean {
    if (waiting.type === 'tool') {
      const call = this.#calls.get(waiting.toolCallId);
      return call?.state === 'call' && !call.discarded;
    }
    return waiting.type === 'message' || this.#questions.get(waiting.questionId)?.state === 'open';
  }

  #dataPart(event: EventOf<'data'>): void {
    const before = this.#data.get(event.id);
    const transient = event.transient === true;
    if (!before) this.#newPart(event.id, event);
    else if (before.transient !== transient) this.#broken('C2-id', `The id ${event.id} is that of other data.`, 'id');
    this.#data.set(event.id, { value: event.data, transient });
  }

  #snapshot(content: MessageContent): void {
    const part = this.#open.find(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) this.#broken('C3-snapshot', `The ${part.kind} ${part.id} is open.`);
    const before = { calls: this.#calls, questions: this.#questions, earlier: this.#earlier };
    for (const { rule, message, path } of snapshotBreaches(before, content)) this.#broken(rule, message, path);
    this.#earlier ??= content;
    for (const entry of content.parts) this.#learnPart(entry);
    for (const [agentId, entry] of Object.entries(content.agents ?? {})) {
      if (!this.#agents.has(agentId)) this.#agents.set(agentId, entry.outcome === 'paused' ? 'paused' : 'ended');
    }
    for (const [stepId, { agentId }] of Object.entries(content.steps ?? {})) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, { agentId, open: false });
    }
  }

  #learnPart(part: MessageContent['parts'][number]): void {
    if (part.type === 'tool-invocation') {
      const opening = this.#calls.get(part.toolCallId)?.opening;
      this.#partIds.add(part.toolCallId);
      this.#parts.set(part.toolCallId, part.stepId);
      this.#calls.set(part.toolCallId, {
        state: part.state,
        invalid: part.invalid === true,
        ...(opening && { opening }),
      });
      if (part.approval) this.#learnQuestion(part.approval);
    } else if (part.type === 'question') this.#learnQuestion(part);
    else if (part.id !== undefined) {
      this.#partIds.add(part.id);
      this.#parts.set(part.id, part.stepId);
      if (part.type === 'data') this.#data.set(part.id, { value: part.data, transient: false });
    }
  }

  #learnQuestion({ questionId, toolCallId, answer }: AskedQuestion): void {
    this.#questions.set(questionId, { state: answer ? 'answered' : 'open', toolCallId });
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    for (const { kind, id, stepId } of this.#open) {
      if (stepId === event.stepId) this.#broken('C3-close', `The ${kind} ${id} is open while its step ends.`, 'stepId');
    }
    this.#closed('step', event.stepId);
    const step = this.#steps.get(event.stepId);
    if (step) step.open = false;
    if (!event.discarded) return;
    for (const call of this.#calls.values()) if (call.opening?.stepId === event.stepId) call.discarded = true;
    for (const [id, stepId] of this.#parts) {
      if (stepId !== event.stepId) continue;
      this.#parts.delete(id);
      this.#data.delete(id);
    }
    for (const question of this.#questions.values()) {
      if (this.#calls.get(question.toolCallId ?? '')?.discarded) question.state = 'discarded';
    }
  }

  #toolCall(event: EventOf<'tool-call'>): void {
    const before = this.#calls.get(event.toolCallId);
    if (!before) this.#newPart(event.toolCallId, event);
    else if (before.state !== 'partial-call')
      this.#broken('C4-call', `The call ${event.toolCallId} is complete already.`);
    else if (this.#open.some(({ kind, id }) => kind === 'tool-input' && id === event.toolCallId)) {
      this.#broken('C4-call', `The input of ${event.toolCallId} has not ended.`);
    }
    if (before?.opening) this.#sameCall(before.opening, event);
    if (before && settled(before.state)) return;
    this.#calls.set(event.toolCallId, {
      state: 'call',
      invalid: event.invalid !== undefined,
      opening: before?.opening ?? event,
    });
  }

  #sameCall(opening: EventOf<'tool-input-start' | 'tool-call'>, event: EventOf<'tool-call'>): void {
    for (const key of callKeys) {
      const before = opening[key];
      const now = event[key];
      if (now === undefined || before === undefined || equalJson(now, before)) continue;
      this.#broken('C6-once', `${key} was ${JSON.stringify(before)} when ${event.toolCallId} opened.`, key);
    }
  }

  #toolResult(event: EventOf<'tool-result'>): void {
    const call = this.#calls.get(event.toolCallId);
    if (!call || call.discarded)
      return this.#broken('C4-result', `There is no call ${event.toolCallId}.`, 'toolCallId');
    if (call.state === 'partial-call') this.#broken('C4-result', `The call ${event.toolCallId} is not complete.`);
    if (settled(call.state)) this.#broken('C4-result', `The call ${event.toolCallId} has its final result.`);
    if (event.status !== 'ok') call.state = event.status;
    else if (!event.preliminary) call.state = 'result';
  }

  #question(event: EventOf<'question'>): void {
    if (this.#questions.has(event.questionId)) {
      this.#broken('C2-name', `The question ${event.questionId} has been asked before.`, 'questionId');
    }
    const call = this.#calls.get(event.toolCallId ?? '');
    if (event.toolCallId !== undefined && (!call || call.discarded)) {
      this.#broken('C4-refer', `There is no call ${event.toolCallId}.`, 'toolCallId');
    }
    this.#knownAgent(event.agentId);
    this.#questions.set(event.questionId, { state: 'open', toolCallId: event.toolCallId });
  }

  #answer(event: EventOf<'answer'>): void {
    const question = this.#questions.get(event.questionId);
    if (!question || question.state === 'discarded') {
      return this.#broken('C4-refer', `There is no question ${event.questionId}.`, 'questionId');
    }
    if (question.state === 'answered')
      this.#broken('C5-answer', `The question ${event.questionId} is answered already.`);
    question.state = 'answered';
  }

  #newPart(id: string, said: Said): void {
    if (this.#partIds.has(id)) this.#broken('C2-id', `The id ${id} is taken.`);
    this.#partIds.add(id);
    this.#parts.set(id, said.stepId);
    this.#knownAgent(said.agentId);
    if (said.stepId === undefined) return;
    const step = this.#steps.get(said.stepId);
    if (!step?.open) this.#broken('C6-step', `The step ${said.stepId} is not open.`, 'stepId');
    else if (step.agentId !== said.agentId)
      this.#broken('C6-step', `The step ${said.stepId} is another agent's.`, 'agentId');
  }

  #knownAgent(agentId: string | undefined): void {
    if (agentId !== undefined && !this.#agents.has(agentId)) {
      this.#broken('C6-agent', `The agent ${agentId} has not started.`, 'agentId');
    }
  }

  #opened(kind: Kind, id: string, stepId?: string): void {
    this.#open.push({ kind, id, stepId });
  }

  #needsOpen(kind: Kind, id: string): void {
    // The last opened part is almost always the one that goes on.
    for (let index = this.#open.length - 1; index >= 0; index--) {
      if (this.#open[index]!.kind === kind && this.#open[index]!.id === id) return;
    }
    this.#broken('C3-open', `No ${kind} ${id} is open.`);
  }

  #closed(kind: Kind, id: string): void {
    const index = this.#open.findLastIndex((open) => open.kind === kind && open.id === id);
    if (index < 0) this.#broken('C3-open', `No ${kind} ${id} is open.`);
    else this.#open.splice(index, 1);
  }

  #patched(value: Json, patch: Op[]): Json | undefined {
    const patched = applyPatch(value, patch, this.#owned);
    if (patched.ok) return patched.value;
    this.#broken('C8-patch', `It cannot be applied: ${patched.message}.`, `patch[${patched.index}]`);
    return undefined;
  }

  #broken(rule: CanonicalRule, message: string, path?: string): void {
    this.#report.violation(rule, message, path);
  }
}
