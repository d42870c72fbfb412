import type { EventOf, JsonObject, OnLoss } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { slot } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import { withoutData } from '../shared/without-data.ts';

/**
 * Names of the steps that a client sees. `turns`: one step per model call, by its name or number. `phases`: the text of a model
 * call in "Generating Response", its tool calls in "Executing Tools". A function: one step per model call, named by it.
 */
export type StepNames = 'phases' | 'turns' | ((step: { index: number; name?: string; agent?: string }) => string);

/** Phase of a model call. With `stepNames: 'phases'` the client sees each phase as a step. */
export type Phase = 'generating' | 'executing';
const phaseNames: Record<Phase, string> = { generating: 'Generating Response', executing: 'Executing Tools' };

type Write = (event: AGUIEvent) => void;
/** `wireId`: of the sub-agent, where the client is told of it. `stepName`: of the node, which is a step to AG-UI. */
type Agent = { start: EventOf<'agent-start'>; parent?: Agent; wireId?: string; stepName?: string; isOpen: boolean };
/** `stepName`: the client's open step. Absent between two phases. */
type Step = {
  stepName?: string;
  phase?: Phase;
  owner: string | undefined;
  agent: Agent | undefined;
  stepId: string;
};

/** Agents as sub-agents, nodes as steps, and turns as steps: whose names are unique among those that are open. */
export class AGUIAgents {
  #hasSubagents: boolean;
  #stepNames: StepNames;
  #onLoss: OnLoss;
  #agents = new Map<string, Agent>();
  #wireIds = new Set<string>();
  #steps = new Map<string, Step>();
  #openNames = new Map<string | undefined, Set<string>>();
  #endedSteps: JsonObject[] = [];
  #turns = 0;
  #isFlattened = false;

  constructor(hasSubagents: boolean, stepNames: StepNames, onLoss: OnLoss) {
    this.#hasSubagents = hasSubagents;
    this.#stepNames = stepNames;
    this.#onLoss = onLoss;
  }

  /** The sub-agent that a part of this agent belongs to: the agent itself, or the nearest above it that is one. */
  owner(agentId: string | undefined): string | undefined {
    return ownerOf(this.#agent(agentId));
  }

  /** The name to show beside a text, where nothing else says who speaks. */
  voice(agentId: string | undefined): string | undefined {
    const agent = this.#agent(agentId);
    return agent === undefined || agent.wireId !== undefined ? undefined : agent.start.name;
  }

  start(event: EventOf<'agent-start'>, write: Write): void {
    // By reference: an agent that starts again may name as its parent one whose parent it was.
    const agent: Agent = { start: event, ...defined({ parent: this.#agent(event.parentAgentId) }), isOpen: true };
    // Behind its parent, which may have started after it did the first time.
    this.#agents.delete(event.agentId);
    this.#agents.set(event.agentId, agent);
    if (event.kind === 'node') {
      const owner = ownerOf(agent.parent);
      agent.stepName = this.#open(event.name, owner);
      const { type: _, at: __, origin: ___, ...said } = event;
      write({ type: 'STEP_STARTED', stepName: agent.stepName, ...tag(owner), ...slot({ node: said as JsonObject }) });
      return;
    }
    if (event.kind === 'voice') return;
    if (!this.#hasSubagents) return this.#flatten(event);
    agent.wireId = this.#wireId(event.agentId);
    write(this.#started(agent, agent.wireId));
  }

  end(event: EventOf<'agent-end'>, write: Write): void {
    const agent = this.#agents.get(event.agentId);
    if (agent === undefined || !agent.isOpen) return;
    agent.isOpen = false;
    const { type: _, at: __, origin: ___, agentId: ____, ...ended } = event;
    const kept = slot({ ended: withoutData(ended) });
    if (agent.stepName !== undefined) {
      const owner = ownerOf(agent.parent);
      this.#close(agent.stepName, owner);
      return write({ type: 'STEP_FINISHED', stepName: agent.stepName, ...tag(owner), ...kept });
    }
    if (agent.wireId === undefined) return;
    const subagentRunId = agent.wireId;
    const { result } = event;
    const more = { ...(result !== undefined && result !== null && { result }), ...kept };
    switch (event.outcome) {
      case 'complete':
        return write({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' }, ...more });
      case 'paused':
        return write({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' }, ...more });
      case 'aborted': {
        const message = event.reason ?? 'The agent was stopped.';
        return write({ type: 'SUBAGENT_ERROR', subagentRunId, message, code: 'ABORTED', ...kept });
      }
      case 'error': {
        const { message, code } = event.error;
        return write({ type: 'SUBAGENT_ERROR', subagentRunId, message, ...defined({ code }), ...kept });
      }
    }
  }

  stepStart(event: EventOf<'step-start'>, write: Write): void {
    const owner = this.owner(event.agentId);
    const stepName = this.#open(this.#nameOf(event), owner);
    const phase = this.#stepNames === 'phases' ? ('generating' as const) : undefined;
    const agent = this.#agent(event.agentId);
    this.#steps.set(event.stepId, { stepName, owner, agent, stepId: event.stepId, ...defined({ phase }) });
    const { stepId, agentId, name, warnings } = event;
    const said = defined({ stepId, name, warnings, agentId: agentId === owner ? undefined : agentId });
    write({ type: 'STEP_STARTED', stepName, ...tag(owner), ...slot(said) });
  }

  /** Opens a phase of a model call and closes the one before it. Does nothing unless steps are named by phases. */
  enterPhase(phase: Phase, stepId: string | undefined, write: Write): void {
    const step = this.#phasedStep(stepId);
    if (step === undefined || step.phase === phase) return;
    this.#leave(step, write);
    step.phase = phase;
    step.stepName = this.#open(phaseNames[phase], step.owner);
    write({ type: 'STEP_STARTED', stepName: step.stepName, ...tag(step.owner), ...slot({ phase: true }) });
  }

  /** Closes "Executing Tools", so that a tool's result follows it. */
  leaveExecuting(stepId: string | undefined, write: Write): void {
    const step = this.#phasedStep(stepId);
    if (step?.phase === 'executing') this.#leave(step, write);
  }

  stepEnd(event: EventOf<'step-end'>, write: Write): void {
    const step = this.#steps.get(event.stepId);
    if (step === undefined) return;
    this.#steps.delete(event.stepId);
    const { stepName, owner } = step;
    const { type: _, at: __, origin: ___, ...ended } = event;
    if (stepName === undefined) {
      this.#endedSteps.push(ended);
      return;
    }
    this.#close(stepName, owner);
    write({ type: 'STEP_FINISHED', stepName, ...tag(owner), ...slot(ended) });
  }

  /**
   * Returns the ends of steps whose last phase was closed before them, because a tool's result came after it. No `STEP_FINISHED`
   * carries their finish reason and usage, so the next event does, in its metadata.
   */
  takeEndedSteps(): JsonObject[] | undefined {
    return this.#endedSteps.length === 0 ? undefined : this.#endedSteps.splice(0);
  }

  /** What a run leaves open must be closed before it finishes. */
  closeAll(write: Write): void {
    for (const stepId of this.#steps.keys()) this.stepEnd({ type: 'step-end', stepId }, write);
    for (const [agentId, { isOpen }] of [...this.#agents].toReversed()) {
      if (isOpen) this.end({ type: 'agent-end', agentId, outcome: 'complete' }, write);
    }
  }

  /** What is open, told again to a client that joins now. */
  reopen(write: Write): void {
    this.#openNames.clear();
    // An agent that has ended is not written again, so nothing may refer to it.
    for (const agent of this.#agents.values()) if (!agent.isOpen) delete agent.wireId;
    for (const agent of this.#agents.values()) {
      if (!agent.isOpen) continue;
      const owner = ownerOf(agent.parent);
      if (agent.stepName !== undefined) {
        agent.stepName = this.#open(agent.stepName, owner);
        write({ type: 'STEP_STARTED', stepName: agent.stepName, ...tag(owner) });
      } else if (agent.wireId !== undefined) write(this.#started(agent, agent.wireId));
    }
    for (const step of this.#steps.values()) {
      step.owner = ownerOf(step.agent);
      if (step.stepName === undefined) continue;
      step.stepName = this.#open(step.stepName, step.owner);
      const { stepName, owner, stepId } = step;
      write({ type: 'STEP_STARTED', stepName, ...tag(owner), ...slot({ stepId }) });
    }
  }

  #started({ start, parent: above }: Agent, subagentRunId: string): AGUIEvent {
    const { name, description, toolCallId: parentToolCallId, agentId } = start;
    const parent = nearestSubagent(above);
    const said = defined({
      agentId: agentId === subagentRunId ? undefined : agentId,
      parentAgentId: start.parentAgentId === parent?.wireId ? undefined : start.parentAgentId,
      providerMetadata: start.providerMetadata,
    });
    const parentSubagentRunId = parent?.wireId;
    const more = defined({ description, parentSubagentRunId, parentToolCallId });
    return { type: 'SUBAGENT_STARTED', subagentRunId, name, ...more, ...slot(said) };
  }

  /** An invocation that goes on after a pause in the same run is another one to AG-UI. */
  #wireId(agentId: string): string {
    let wireId = agentId;
    for (let count = 2; this.#wireIds.has(wireId); count += 1) wireId = `${agentId}~${count}`;
    this.#wireIds.add(wireId);
    return wireId;
  }

  #nameOf({ name, agentId }: EventOf<'step-start'>): string {
    this.#turns += 1;
    if (this.#stepNames === 'phases') return phaseNames.generating;
    if (this.#stepNames === 'turns') return name ?? `step-${this.#turns}`;
    const agent = this.#agent(agentId)?.start.name;
    return this.#stepNames({ index: this.#turns - 1, ...defined({ name, agent }) });
  }

  #phasedStep(stepId: string | undefined): Step | undefined {
    return stepId === undefined || this.#stepNames !== 'phases' ? undefined : this.#steps.get(stepId);
  }

  #leave(step: Step, write: Write): void {
    const { stepName, owner } = step;
    delete step.phase;
    delete step.stepName;
    if (stepName === undefined) return;
    this.#close(stepName, owner);
    write({ type: 'STEP_FINISHED', stepName, ...tag(owner), ...slot({ phase: true }) });
  }

  #open(name: string, owner: string | undefined): string {
    const names = this.#openNames.get(owner) ?? new Set();
    this.#openNames.set(owner, names);
    let unique = name;
    for (let count = 2; names.has(unique); count += 1) unique = `${name} (${count})`;
    names.add(unique);
    return unique;
  }

  #close(name: string, owner: string | undefined): void {
    this.#openNames.get(owner)?.delete(name);
  }

  #agent(agentId: string | undefined): Agent | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  #flatten({ agentId }: EventOf<'agent-start'>): void {
    if (this.#isFlattened) return;
    this.#isFlattened = true;
    const why = 'Clients before 0.0.59 fail on sub-agents, so what they say is told as the one agent’s own.';
    this.#onLoss({ kind: 'unsupported', what: 'agent-start', why, id: agentId });
  }
}

function ownerOf(agent: Agent | undefined): string | undefined {
  return nearestSubagent(agent)?.wireId;
}

/** Finds the agent that the client knows as a sub-agent: the given one, or the nearest above it. */
function nearestSubagent(agent: Agent | undefined): Agent | undefined {
  for (let at = agent; at; at = at.parent) if (at.wireId !== undefined) return at;
  return undefined;
}

export function tag(owner: string | undefined): { subagentRunId?: string } {
  return owner === undefined ? {} : { subagentRunId: owner };
}
