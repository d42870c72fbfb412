import {
  isEventType,
  validateEvent,
  type AgentEvent,
  type Checker,
  type EventOf,
  type MessageContent,
  type MessagePart,
  type Report,
} from '@intertie/core';
import type { Complain } from '../rules/canonical-rules.ts';
import { CheckedCalls } from './call-checker.ts';
import { CheckedValues } from './value-checker.ts';
import { snapshotBreaches } from './snapshot-violations.ts';

type Kind = 'text' | 'reasoning' | 'tool-input' | 'step' | 'agent';
type OpenThing = { kind: Kind; id: string; stepId: string | undefined };
type Said = { agentId?: string; stepId?: string };

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
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  #steps = new Map<string, { agentId: string | undefined; open: boolean }>();
  /** Parts that are there, with their step. */
  #parts = new Map<string, string | undefined>();
  /** What the baseline says: the words and the runs before this one. */
  #earlier: MessageContent | undefined;
  #report!: Report;
  #complain: Complain = (rule, message, path) => this.#report.violation(rule, message, path);
  #calls = new CheckedCalls(this.#complain);
  #values = new CheckedValues(this.#complain);

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
      this.#complain('C0-shape', problem.message, problem.path);
    }
    if (!problem) this.#event(item as AgentEvent);
    this.#seen++;
  }

  end(report: Report): void {
    this.#report = report;
    if (!this.#run) this.#complain('C1-start', 'The stream has no run-start.');
    if (!this.#ended) this.#complain('C1-end', 'The stream ends without run-end.');
  }

  #event(event: AgentEvent): void {
    if (this.#ended) this.#complain('C1-end', `${event.type} comes after run-end.`);
    if (this.#seen === 0 && event.type !== 'run-start')
      this.#complain('C1-start', `${event.type} comes before run-start.`);
    if (this.#seen === 1 && this.#run?.resumes !== undefined && event.type !== 'message-snapshot') {
      this.#complain('C7-baseline', `The run continues ${this.#run.resumes}, and ${event.type} is its second event.`);
    }
    switch (event.type) {
      case 'run-start':
        if (this.#run) this.#complain('C1-start', 'There is a second run-start.');
        this.#run ??= event;
        return;
      case 'run-end':
        return this.#runEnd(event);
      case 'message-snapshot':
        return this.#snapshot(event.content);
      case 'metadata':
        if (event.id !== undefined && !this.#parts.has(event.id)) {
          this.#complain('C4-refer', `There is no part ${event.id}.`, 'id');
        }
        return;
      case 'agent-start':
        if (['open', 'ended'].includes(this.#agents.get(event.agentId) ?? '')) {
          this.#complain('C2-name', `The agent ${event.agentId} has started before.`, 'agentId');
        }
        this.#agents.set(event.agentId, 'open');
        return this.#opened('agent', event.agentId);
      case 'agent-end':
        this.#closed('agent', event.agentId);
        this.#agents.set(event.agentId, event.outcome === 'paused' ? 'paused' : 'ended');
        return;
      case 'step-start':
        if (this.#steps.has(event.stepId))
          this.#complain('C2-name', `The step ${event.stepId} has started before.`, 'stepId');
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
        this.#calls.open(event);
        return this.#opened('tool-input', event.toolCallId, event.stepId);
      case 'tool-input-delta':
        return this.#needsOpen('tool-input', event.toolCallId);
      case 'tool-input-end':
        return this.#closed('tool-input', event.toolCallId);
      case 'tool-call':
        return this.#toolCall(event);
      case 'tool-result':
        return this.#calls.settle(event);
      case 'question':
        return this.#question(event);
      case 'answer':
        return this.#calls.answer(event);
      case 'interjection':
      case 'file':
      case 'source':
        return this.#newPart(event.id, event);
      case 'data':
        return this.#dataPart(event);
      case 'data-delta':
        return this.#values.patchData(event);
      case 'state-snapshot':
        return this.#values.setState(event.state);
      case 'state-delta':
        return this.#values.patchState(event.patch);
      case 'notice':
      case 'raw':
        return;
    }
  }

  #runEnd(event: EventOf<'run-end'>): void {
    this.#ended = true;
    for (const { kind, id } of this.#open) this.#complain('C3-close', `The ${kind} ${id} is still open.`);
    this.#calls.end();
    if (event.outcome !== 'paused') return;
    if (event.waitingFor.length === 0)
      this.#complain('C5-waiting', 'The run is paused and waits for nothing.', 'waitingFor');
    for (const [index, waiting] of event.waitingFor.entries()) {
      if (!this.#calls.isPending(waiting)) {
        this.#complain('C5-waiting', 'What the run waits for is not pending.', `waitingFor[${index}]`);
      }
    }
  }

  #dataPart(event: EventOf<'data'>): void {
    if (!this.#values.hasData(event.id)) this.#newPart(event.id, event);
    this.#values.setData(event);
  }

  #snapshot(content: MessageContent): void {
    const part = this.#open.find(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) this.#complain('C3-snapshot', `The ${part.kind} ${part.id} is open.`);
    const before = { ...this.#calls.records, earlier: this.#earlier };
    for (const { rule, message, path } of snapshotBreaches(before, content)) this.#complain(rule, message, path);
    this.#earlier ??= content;
    for (const entry of content.parts) this.#learnPart(entry);
    for (const [agentId, entry] of Object.entries(content.agents ?? {})) {
      if (!this.#agents.has(agentId)) this.#agents.set(agentId, entry.outcome === 'paused' ? 'paused' : 'ended');
    }
    for (const [stepId, { agentId }] of Object.entries(content.steps ?? {})) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, { agentId, open: false });
    }
  }

  #learnPart(part: MessagePart): void {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    if (part.type === 'tool-invocation') this.#calls.learn(part);
    if (part.type === 'question') return this.#calls.learnQuestion(part);
    if (id === undefined) return;
    this.#partIds.add(id);
    this.#parts.set(id, part.stepId);
    if (part.type === 'data') this.#values.learn(id, part.data);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    for (const { kind, id, stepId } of this.#open) {
      if (stepId === event.stepId)
        this.#complain('C3-close', `The ${kind} ${id} is open while its step ends.`, 'stepId');
    }
    this.#closed('step', event.stepId);
    const step = this.#steps.get(event.stepId);
    if (step) step.open = false;
    if (!event.discarded) return;
    this.#calls.discard(event.stepId);
    for (const [id, stepId] of this.#parts) {
      if (stepId !== event.stepId) continue;
      this.#parts.delete(id);
      this.#values.forgetData(id);
    }
  }

  #toolCall(event: EventOf<'tool-call'>): void {
    const { toolCallId } = event;
    if (!this.#calls.has(toolCallId)) this.#newPart(toolCallId, event);
    this.#calls.call(event, this.#isOpen('tool-input', toolCallId));
  }

  #question(event: EventOf<'question'>): void {
    this.#calls.ask(event);
    this.#knownAgent(event.agentId);
  }

  #newPart(id: string, said: Said): void {
    if (this.#partIds.has(id)) this.#complain('C2-id', `The id ${id} is taken.`);
    this.#partIds.add(id);
    this.#parts.set(id, said.stepId);
    this.#knownAgent(said.agentId);
    if (said.stepId === undefined) return;
    const step = this.#steps.get(said.stepId);
    if (!step?.open) this.#complain('C6-step', `The step ${said.stepId} is not open.`, 'stepId');
    else if (step.agentId !== said.agentId)
      this.#complain('C6-step', `The step ${said.stepId} is another agent's.`, 'agentId');
  }

  #knownAgent(agentId: string | undefined): void {
    if (agentId !== undefined && !this.#agents.has(agentId)) {
      this.#complain('C6-agent', `The agent ${agentId} has not started.`, 'agentId');
    }
  }

  #opened(kind: Kind, id: string, stepId?: string): void {
    this.#open.push({ kind, id, stepId });
  }

  #isOpen(kind: Kind, id: string): boolean {
    // The last opened part is almost always the one that goes on.
    for (let index = this.#open.length - 1; index >= 0; index--) {
      if (this.#open[index]!.kind === kind && this.#open[index]!.id === id) return true;
    }
    return false;
  }

  #needsOpen(kind: Kind, id: string): void {
    if (!this.#isOpen(kind, id)) this.#complain('C3-open', `No ${kind} ${id} is open.`);
  }

  #closed(kind: Kind, id: string): void {
    const index = this.#open.findLastIndex((open) => open.kind === kind && open.id === id);
    if (index < 0) this.#complain('C3-open', `No ${kind} ${id} is open.`);
    else this.#open.splice(index, 1);
  }
}
