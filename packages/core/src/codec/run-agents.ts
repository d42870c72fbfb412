import type { Emit } from './codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { MessageContent } from '../event/message.ts';
import type { Misfit } from './report-invalid-event.ts';
import type { OpenThings } from './open-scopes.ts';
import type { Outcome } from '../event/outcome.ts';
import type { Attribution } from '../event/part-body.ts';

/** The agents of a run and its baseline, and their steps: who is at work, and whether a part can be whose it says. */
export class RunAgents {
  #open: OpenThings;
  #misfit: Misfit;
  #agents = new Map<string, 'open' | 'paused' | 'ended'>();
  /** The agent of each step, ended or not. */
  #steps = new Map<string, string | undefined>();

  constructor(open: OpenThings, misfit: Misfit) {
    this.#open = open;
    this.#misfit = misfit;
  }

  start(event: EventOf<'agent-start'>, emit: Emit<AgentEvent>): void {
    const known = this.#agents.get(event.agentId);
    if (known === 'open' || known === 'ended') {
      return this.#misfit(event, event.agentId, 'The agent has started already, and did not end paused.');
    }
    this.#agents.set(event.agentId, 'open');
    this.#open.add('agent', event.agentId);
    emit(event);
  }

  end(event: EventOf<'agent-end'>, emit: Emit<AgentEvent>): void {
    if (!this.#open.delete('agent', event.agentId))
      return this.#misfit(event, event.agentId, 'The agent is not at work.');
    this.ended(event.agentId, event.outcome);
    emit(event);
  }

  ended(agentId: string, outcome: Outcome['outcome'] | undefined): void {
    this.#agents.set(agentId, outcome === 'paused' ? 'paused' : 'ended');
  }

  startStep(event: EventOf<'step-start'>, emit: Emit<AgentEvent>): void {
    if (this.#steps.has(event.stepId))
      return this.#misfit(event, event.stepId, 'A step of that id has been started before.');
    const started = this.ofKnownAgent(event, event.stepId);
    this.#steps.set(event.stepId, started.agentId);
    this.#open.add('step', event.stepId);
    emit(started);
  }

  learn({ agents = {}, steps = {} }: MessageContent): void {
    for (const [agentId, { outcome }] of Object.entries(agents)) {
      if (!this.#agents.has(agentId)) this.ended(agentId, outcome);
    }
    for (const [stepId, { agentId }] of Object.entries(steps)) {
      if (!this.#steps.has(stepId)) this.#steps.set(stepId, agentId);
    }
  }

  /**
   * A part of an agent that has not started, or of a step that is not open or is another agent's, goes without. One that
   * names its step alone is of that step's agent.
   */
  attributed<E extends AgentEvent & Attribution>(event: E): E {
    const said = this.ofKnownAgent(event, undefined);
    if (said.stepId === undefined) return said;
    if (!this.#open.has('step', said.stepId)) return this.#withoutStep(said, `Its step ${said.stepId} is not open.`);
    const agentId = this.#steps.get(said.stepId);
    if (said.agentId === undefined && agentId !== undefined) return { ...said, agentId };
    return agentId === said.agentId ? said : this.#withoutStep(said, `Its step ${said.stepId} is another agent's.`);
  }

  ofKnownAgent<E extends AgentEvent & { agentId?: string }>(event: E, id: string | undefined): E {
    if (event.agentId === undefined || this.#agents.has(event.agentId)) return event;
    this.#misfit(event, id, `Its agent ${event.agentId} has not started.`);
    const { agentId: _, ...rest } = event;
    return rest as E;
  }

  #withoutStep<E extends AgentEvent & Attribution>(event: E, why: string): E {
    this.#misfit(event, undefined, why);
    const { stepId: _, ...rest } = event;
    return rest as E;
  }
}
