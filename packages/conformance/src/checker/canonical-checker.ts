import { validateEvent, type AgentEvent, type EventOf, type MessageContent, type MessagePart } from '@intertie/core';
import { isEventType, type Checker, type Report } from '@intertie/core/internal';
import type { ReportViolation } from '../rules/canonical-rules.ts';
import { CallChecker } from './call-checker.ts';
import { ValueChecker } from './value-checker.ts';
import { findSnapshotViolations } from './snapshot-violations.ts';

type Kind = 'text' | 'reasoning' | 'tool-input' | 'step' | 'agent';
type OpenScope = { kind: Kind; id: string; stepId: string | undefined };
type Attribution = { agentId?: string; stepId?: string };

/**
 * Checks the invariants of one canonical run. Shares no code with `seal`, which enforces the same invariants, so that each
 * can be tested with the other.
 */
export class CanonicalChecker implements Checker {
  #seen = 0;
  #run: EventOf<'run-start'> | undefined;
  #ended = false;
  #openScopes: OpenScope[] = [];
  #partIds = new Set<string>();
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  #steps = new Map<string, { agentId: string | undefined; open: boolean }>();
  /** Step ids of the existing parts, by part id. */
  #parts = new Map<string, string | undefined>();
  /** Content of the first snapshot: the output of earlier runs. */
  #earlier: MessageContent | undefined;
  #report!: Report;
  #violation: ReportViolation = (rule, message, path) => this.#report.violation(rule, message, path);
  #calls = new CallChecker(this.#violation);
  #values = new ValueChecker(this.#violation);

  feed(item: unknown, report: Report): void {
    this.#report = report;
    const problem = validateEvent(item);
    const type = (item as { type?: unknown } | null)?.type;
    if (problem && typeof type === 'string' && !isEventType(type)) {
      report.loss({
        kind: 'unsupported',
        what: type,
        why: 'This version does not know the event type and treats it as raw.',
      });
    } else if (problem) {
      this.#violation('C0-shape', problem.message, problem.path);
    }
    if (!problem) this.#checkEvent(item as AgentEvent);
    this.#seen++;
  }

  end(report: Report): void {
    this.#report = report;
    if (!this.#run) this.#violation('C1-start', 'The stream has no run-start.');
    if (!this.#ended) this.#violation('C1-end', 'The stream ends without run-end.');
  }

  #checkEvent(event: AgentEvent): void {
    if (this.#ended) this.#violation('C1-end', `${event.type} comes after run-end.`);
    if (this.#seen === 0 && event.type !== 'run-start')
      this.#violation('C1-start', `${event.type} comes before run-start.`);
    if (this.#seen === 1 && this.#run?.resumes !== undefined && event.type !== 'message-snapshot') {
      this.#violation('C7-baseline', `The run continues ${this.#run.resumes}, but its second event is ${event.type}.`);
    }
    switch (event.type) {
      case 'run-start':
        if (this.#run) this.#violation('C1-start', 'There is a second run-start.');
        this.#run ??= event;
        return;
      case 'run-end':
        return this.#runEnd(event);
      case 'message-snapshot':
        return this.#snapshot(event.content);
      case 'metadata':
        if (event.id !== undefined && !this.#parts.has(event.id)) {
          this.#violation('C4-refer', `There is no part ${event.id}.`, 'id');
        }
        return;
      case 'agent-start':
        if (['open', 'ended'].includes(this.#agents.get(event.agentId) ?? '')) {
          this.#violation('C2-name', `The agent ${event.agentId} has already started.`, 'agentId');
        }
        this.#agents.set(event.agentId, 'open');
        return this.#openScope('agent', event.agentId);
      case 'agent-end':
        this.#closeScope('agent', event.agentId);
        this.#agents.set(event.agentId, event.outcome === 'paused' ? 'paused' : 'ended');
        return;
      case 'step-start':
        if (this.#steps.has(event.stepId))
          this.#violation('C2-name', `The step ${event.stepId} has already started.`, 'stepId');
        this.#checkAgent(event.agentId);
        this.#steps.set(event.stepId, { agentId: event.agentId, open: true });
        return this.#openScope('step', event.stepId);
      case 'step-end':
        return this.#stepEnd(event);
      case 'text-start':
      case 'reasoning-start':
        this.#addPart(event.id, event);
        return this.#openScope(event.type === 'text-start' ? 'text' : 'reasoning', event.id, event.stepId);
      case 'text-delta':
        return this.#checkOpen('text', event.id);
      case 'reasoning-delta':
        return this.#checkOpen('reasoning', event.id);
      case 'text-end':
        return this.#closeScope('text', event.id);
      case 'reasoning-end':
        return this.#closeScope('reasoning', event.id);
      case 'tool-input-start':
        this.#addPart(event.toolCallId, event);
        this.#calls.open(event);
        return this.#openScope('tool-input', event.toolCallId, event.stepId);
      case 'tool-input-delta':
        return this.#checkOpen('tool-input', event.toolCallId);
      case 'tool-input-end':
        return this.#closeScope('tool-input', event.toolCallId);
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
        return this.#addPart(event.id, event);
      case 'data':
        return this.#dataPart(event);
      case 'data-delta':
        return this.#values.patchData(event);
      case 'state-snapshot':
        return this.#values.setState(event.state);
      case 'state-delta':
        return this.#values.patchState(event.patch);
      case 'notice':
      case 'checkpoint':
      case 'raw':
        return;
    }
  }

  #runEnd(event: EventOf<'run-end'>): void {
    this.#ended = true;
    for (const { kind, id } of this.#openScopes) this.#violation('C3-close', `The ${kind} ${id} is still open.`);
    this.#calls.end();
    if (event.outcome !== 'paused') return;
    if (event.waitingFor.length === 0)
      this.#violation('C5-waiting', 'The run is paused but waits for nothing.', 'waitingFor');
    for (const [index, waiting] of event.waitingFor.entries()) {
      if (!this.#calls.isPending(waiting)) {
        this.#violation('C5-waiting', 'The run waits for an item that is not pending.', `waitingFor[${index}]`);
      }
    }
  }

  #dataPart(event: EventOf<'data'>): void {
    if (!this.#values.hasData(event.id)) this.#addPart(event.id, event);
    this.#values.setData(event);
  }

  #snapshot(content: MessageContent): void {
    const part = this.#openScopes.find(({ kind }) => kind !== 'agent' && kind !== 'step');
    if (part) this.#violation('C3-snapshot', `The ${part.kind} ${part.id} is open.`);
    const before = { ...this.#calls.records, earlier: this.#earlier };
    for (const { rule, message, path } of findSnapshotViolations(before, content)) this.#violation(rule, message, path);
    this.#earlier ??= content;
    for (const entry of content.parts) this.#addSnapshotPart(entry);
    for (const [agentId, entry] of Object.entries(content.agents ?? {})) {
      if (!this.#agents.has(agentId)) this.#agents.set(agentId, entry.outcome === 'paused' ? 'paused' : 'ended');
    }
    for (const [stepId, { agentId }] of Object.entries(content.steps ?? {})) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, { agentId, open: false });
    }
  }

  #addSnapshotPart(part: MessagePart): void {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    if (part.type === 'tool-invocation') this.#calls.addFromSnapshot(part);
    if (part.type === 'question') return this.#calls.addQuestion(part);
    if (id === undefined) return;
    this.#partIds.add(id);
    this.#parts.set(id, part.stepId);
    if (part.type === 'data') this.#values.addFromSnapshot(id, part.data);
  }

  #stepEnd(event: EventOf<'step-end'>): void {
    for (const { kind, id, stepId } of this.#openScopes) {
      if (stepId === event.stepId)
        this.#violation('C3-close', `The ${kind} ${id} is open at the end of its step.`, 'stepId');
    }
    this.#closeScope('step', event.stepId);
    const step = this.#steps.get(event.stepId);
    if (step) step.open = false;
    if (!event.discarded) return;
    this.#calls.discard(event.stepId);
    for (const [id, stepId] of this.#parts) {
      if (stepId !== event.stepId) continue;
      this.#parts.delete(id);
      this.#values.deleteData(id);
    }
  }

  #toolCall(event: EventOf<'tool-call'>): void {
    const { toolCallId } = event;
    if (!this.#calls.has(toolCallId)) this.#addPart(toolCallId, event);
    this.#calls.call(event, this.#isOpen('tool-input', toolCallId));
  }

  #question(event: EventOf<'question'>): void {
    this.#calls.ask(event);
    this.#checkAgent(event.agentId);
  }

  #addPart(id: string, attribution: Attribution): void {
    if (this.#partIds.has(id)) this.#violation('C2-id', `The id ${id} is already in use.`);
    this.#partIds.add(id);
    this.#parts.set(id, attribution.stepId);
    this.#checkAgent(attribution.agentId);
    if (attribution.stepId === undefined) return;
    const step = this.#steps.get(attribution.stepId);
    if (!step?.open) this.#violation('C6-step', `The step ${attribution.stepId} is not open.`, 'stepId');
    else if (step.agentId !== attribution.agentId)
      this.#violation('C6-step', `The step ${attribution.stepId} belongs to another agent.`, 'agentId');
  }

  #checkAgent(agentId: string | undefined): void {
    if (agentId !== undefined && !this.#agents.has(agentId)) {
      this.#violation('C6-agent', `The agent ${agentId} has not started.`, 'agentId');
    }
  }

  #openScope(kind: Kind, id: string, stepId?: string): void {
    this.#openScopes.push({ kind, id, stepId });
  }

  #isOpen(kind: Kind, id: string): boolean {
    // Searched from the end: deltas usually belong to the part that was opened last.
    for (let index = this.#openScopes.length - 1; index >= 0; index--) {
      if (this.#openScopes[index]!.kind === kind && this.#openScopes[index]!.id === id) return true;
    }
    return false;
  }

  #checkOpen(kind: Kind, id: string): void {
    if (!this.#isOpen(kind, id)) this.#violation('C3-open', `No ${kind} ${id} is open.`);
  }

  #closeScope(kind: Kind, id: string): void {
    const index = this.#openScopes.findLastIndex((open) => open.kind === kind && open.id === id);
    if (index < 0) this.#violation('C3-open', `No ${kind} ${id} is open.`);
    else this.#openScopes.splice(index, 1);
  }
}
