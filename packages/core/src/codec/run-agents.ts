import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { MessageContent } from '../event/message.ts';
import type { ReportInvalidEvent } from './report-invalid-event.ts';
import type { OpenScopes } from './open-scopes.ts';
import type { Outcome } from '../event/outcome.ts';
import type { Attribution } from '../event/part-body.ts';

/** Tracks the agents and steps of a run and its baseline, and checks the attribution of parts against them. */
export class RunAgents {
  #scopes: OpenScopes;
  #reportInvalid: ReportInvalidEvent;
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  /** Agent of every step, including ended steps. */
  #steps = new Map<string, string | undefined>();

  constructor(scopes: OpenScopes, reportInvalid: ReportInvalidEvent) {
    this.#scopes = scopes;
    this.#reportInvalid = reportInvalid;
  }

  start(event: EventOf<'agent-start'>, emit: Emit<AgentEvent>): void {
    const known = this.#agents.get(event.agentId);
    if (known === 'open' || known === 'ended') {
      return this.#reportInvalid(event, event.agentId, 'The agent has already started and did not end as paused.');
    }
    this.#agents.set(event.agentId, 'open');
    this.#scopes.add('agent', event.agentId);
    emit(event);
  }

  end(event: EventOf<'agent-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#scopes.delete('agent', event.agentId))
      return this.#reportInvalid(event, event.agentId, 'The agent is not running.');
    this.recordEnd(event.agentId, event.outcome);
    emit(event);
  }

  recordEnd(agentId: string, outcome: Outcome['outcome'] | undefined): void {
    this.#agents.set(agentId, outcome === 'paused' ? 'paused' : 'ended');
  }

  startStep(event: EventOf<'step-start'>, emit: Emit<AgentEvent>): void {
    if (this.#steps.has(event.stepId))
      return this.#reportInvalid(event, event.stepId, 'A step with this id was already started.');
    const started = this.dropUnknownAgent(event, event.stepId);
    this.#steps.set(event.stepId, started.agentId);
    this.#scopes.add('step', event.stepId);
    emit(started);
  }

  addFromSnapshot({ agents = {}, steps = {} }: MessageContent): void {
    for (const [agentId, { outcome }] of Object.entries(agents)) {
      if (!this.#agents.has(agentId)) this.recordEnd(agentId, outcome);
    }
    for (const [stepId, { agentId }] of Object.entries(steps)) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, agentId);
    }
  }

  /**
   * Removes an agent that has not started, and a step that is not open or belongs to another agent. A part with a step but no
   * agent gets the agent of the step.
   */
  checkAttribution<E extends AgentEvent & Attribution>(event: E): E {
    const checked = this.dropUnknownAgent(event, undefined);
    const { stepId } = checked;
    if (stepId === undefined) return checked;
    if (!this.#scopes.has('step', stepId)) return this.#dropStep(checked, `Its step ${stepId} is not open.`);
    const agentId = this.#steps.get(stepId);
    if (checked.agentId === undefined && agentId !== undefined) return { ...checked, agentId };
    return agentId === checked.agentId
      ? checked
      : this.#dropStep(checked, `Its step ${stepId} belongs to another agent.`);
  }

  dropUnknownAgent<E extends AgentEvent & { agentId?: string }>(event: E, id: string | undefined): E {
    if (event.agentId === undefined || this.#agents.has(event.agentId)) return event;
    this.#reportInvalid(event, id, `Its agent ${event.agentId} has not started.`);
    const { agentId: _, ...rest } = event;
    return rest as E;
  }

  #dropStep<E extends AgentEvent & Attribution>(event: E, why: string): E {
    this.#reportInvalid(event, undefined, why);
    const { stepId: _, ...rest } = event;
    return rest as E;
  }
}
