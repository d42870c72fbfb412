import type { EventOf, JsonObject, OnLoss } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
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
/** `wireId`: id of the sub-agent, if the client knows it as one. `stepName`: name of a node, which is a step to AG-UI. */
type Agent = { start: EventOf<'agent-start'>; parent?: Agent; wireId?: string; stepName?: string; isOpen: boolean };
/** `stepName`: the step that is open for the client. Absent between two phases. */
type Step = {
  stepName?: string;
  phase?: Phase;
  owner: string | undefined;
  agent: Agent | undefined;
  stepId: string;
};

/** Encodes agents as sub-agents, and nodes and model calls as steps, whose names are unique among the open steps. */
export class AgentEncoder {
  #hasSubagents: boolean;
  #stepNames: StepNames;
  #onLoss: OnLoss;
  #agents = new Map<string, Agent>();
  #wireIds = new Set<string>();
  #steps = new Map<string, Step>();
  #openNames = new Map<string | undefined, Set<string>>();
  #endedSteps: JsonObject[] = [];
  #stepCount = 0;
  #isFlattened = false;

  constructor(hasSubagents: boolean, stepNames: StepNames, onLoss: OnLoss) {
    this.#hasSubagents = hasSubagents;
    this.#stepNames = stepNames;
    this.#onLoss = onLoss;
  }

  /** Returns the sub-agent that a part of this agent belongs to: the agent itself, or its nearest ancestor that is one. */
  owner(agentId: string | undefined): string | undefined {
    return findOwner(this.#agent(agentId));
  }

  /** Returns the name to show with a text, unless a sub-agent identifies its author. */
  getDisplayName(agentId: string | undefined): string | undefined {
    const agent = this.#agent(agentId);
    return agent === undefined || agent.wireId !== undefined ? undefined : agent.start.name;
  }

  start(event: EventOf<'agent-start'>, write: Write): void {
    // The parent is held by reference: a restarted agent may name a former child as its parent.
    const agent: Agent = { start: event, ...defined({ parent: this.#agent(event.parentAgentId) }), isOpen: true };
    // Re-inserted, so that the agent follows its parent, which may have started after the agent's first start.
    this.#agents.delete(event.agentId);
    this.#agents.set(event.agentId, agent);
    if (event.kind === 'node') {
      const owner = findOwner(agent.parent);
      agent.stepName = this.#open(event.name, owner);
      const node = omit(event, 'type', 'at', 'origin');
      write({
        type: 'STEP_STARTED',
        stepName: agent.stepName,
        ...ownerField(owner),
        ...toMetadata({ node: node as JsonObject }),
      });
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
    const ended = omit(event, 'type', 'at', 'origin', 'agentId');
    const extra = toMetadata({ ended: withoutData(ended) });
    if (agent.stepName !== undefined) {
      const owner = findOwner(agent.parent);
      this.#close(agent.stepName, owner);
      return write({ type: 'STEP_FINISHED', stepName: agent.stepName, ...ownerField(owner), ...extra });
    }
    if (agent.wireId === undefined) return;
    const subagentRunId = agent.wireId;
    const { result } = event;
    const fields = { ...(result !== undefined && result !== null && { result }), ...extra };
    switch (event.outcome) {
      case 'complete':
        return write({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' }, ...fields });
      case 'paused':
        return write({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended' }, ...fields });
      case 'aborted': {
        const message = event.reason ?? 'The agent was stopped.';
        return write({ type: 'SUBAGENT_ERROR', subagentRunId, message, code: 'ABORTED', ...extra });
      }
      case 'error': {
        const { message, code } = event.error;
        return write({ type: 'SUBAGENT_ERROR', subagentRunId, message, ...defined({ code }), ...extra });
      }
    }
  }

  stepStart(event: EventOf<'step-start'>, write: Write): void {
    const owner = this.owner(event.agentId);
    const stepName = this.#open(this.#nameStep(event), owner);
    const phase = this.#stepNames === 'phases' ? ('generating' as const) : undefined;
    const agent = this.#agent(event.agentId);
    this.#steps.set(event.stepId, { stepName, owner, agent, stepId: event.stepId, ...defined({ phase }) });
    const { stepId, agentId, name, warnings } = event;
    const extra = defined({ stepId, name, warnings, agentId: agentId === owner ? undefined : agentId });
    write({ type: 'STEP_STARTED', stepName, ...ownerField(owner), ...toMetadata(extra) });
  }

  /** Opens a phase of a model call and closes the one before it. Does nothing unless steps are named by phases. */
  enterPhase(phase: Phase, stepId: string | undefined, write: Write): void {
    const step = this.#phasedStep(stepId);
    if (step === undefined || step.phase === phase) return;
    this.#leave(step, write);
    step.phase = phase;
    step.stepName = this.#open(phaseNames[phase], step.owner);
    write({ type: 'STEP_STARTED', stepName: step.stepName, ...ownerField(step.owner), ...toMetadata({ phase: true }) });
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
    const ended = omit(event, 'type', 'at', 'origin');
    if (stepName === undefined) {
      this.#endedSteps.push(ended);
      return;
    }
    this.#close(stepName, owner);
    write({ type: 'STEP_FINISHED', stepName, ...ownerField(owner), ...toMetadata(ended) });
  }

  /**
   * Returns the ends of steps whose last phase was closed before them, because a tool's result came after it. No `STEP_FINISHED`
   * carries their finish reason and usage, so the next event does, in its metadata.
   */
  takeEndedSteps(): JsonObject[] | undefined {
    return this.#endedSteps.length === 0 ? undefined : this.#endedSteps.splice(0);
  }

  /** Closes everything that the run left open, which AG-UI requires before RUN_FINISHED. */
  closeAll(write: Write): void {
    for (const stepId of this.#steps.keys()) this.stepEnd({ type: 'step-end', stepId }, write);
    for (const [agentId, { isOpen }] of [...this.#agents].toReversed()) {
      if (isOpen) this.end({ type: 'agent-end', agentId, outcome: 'complete' }, write);
    }
  }

  /** Opens everything that is open again, for a client that joins. */
  reopen(write: Write): void {
    this.#openNames.clear();
    // Ended agents are not announced again, so no event may refer to them. An ended agent that has started again is no longer
    // in `#agents`, but may still be the parent of another or the agent of a step.
    const agents = [...this.#agents.values(), ...Array.from(this.#steps.values(), ({ agent }) => agent)];
    for (const agent of agents) for (let at = agent; at; at = at.parent) if (!at.isOpen) delete at.wireId;
    for (const agent of this.#agents.values()) {
      if (!agent.isOpen) continue;
      const owner = findOwner(agent.parent);
      if (agent.stepName !== undefined) {
        agent.stepName = this.#open(agent.stepName, owner);
        write({ type: 'STEP_STARTED', stepName: agent.stepName, ...ownerField(owner) });
      } else if (agent.wireId !== undefined) write(this.#started(agent, agent.wireId));
    }
    for (const step of this.#steps.values()) {
      step.owner = findOwner(step.agent);
      if (step.stepName === undefined) continue;
      step.stepName = this.#open(step.stepName, step.owner);
      const { stepName, owner, stepId } = step;
      write({ type: 'STEP_STARTED', stepName, ...ownerField(owner), ...toMetadata({ stepId }) });
    }
  }

  #started({ start, parent: above }: Agent, subagentRunId: string): AGUIEvent {
    const { name, description, toolCallId: parentToolCallId, agentId } = start;
    const parent = findSubagent(above);
    const extra = defined({
      agentId: agentId === subagentRunId ? undefined : agentId,
      parentAgentId: start.parentAgentId === parent?.wireId ? undefined : start.parentAgentId,
      providerMetadata: start.providerMetadata,
    });
    const parentSubagentRunId = parent?.wireId;
    const fields = defined({ description, parentSubagentRunId, parentToolCallId });
    return { type: 'SUBAGENT_STARTED', subagentRunId, name, ...fields, ...toMetadata(extra) };
  }

  /** Returns an id for a sub-agent. An agent that resumes after a pause in the same run needs a new one. */
  #wireId(agentId: string): string {
    let wireId = agentId;
    for (let count = 2; this.#wireIds.has(wireId); count += 1) wireId = `${agentId}~${count}`;
    this.#wireIds.add(wireId);
    return wireId;
  }

  #nameStep({ name, agentId }: EventOf<'step-start'>): string {
    this.#stepCount += 1;
    if (this.#stepNames === 'phases') return phaseNames.generating;
    if (this.#stepNames === 'turns') return name ?? `step-${this.#stepCount}`;
    const agent = this.#agent(agentId)?.start.name;
    return this.#stepNames({ index: this.#stepCount - 1, ...defined({ name, agent }) });
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
    write({ type: 'STEP_FINISHED', stepName, ...ownerField(owner), ...toMetadata({ phase: true }) });
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
    const why = 'Clients before 0.0.59 fail on sub-agents, so all output is attributed to the main agent.';
    this.#onLoss({ kind: 'unsupported', what: 'agent-start', why, id: agentId });
  }
}

function findOwner(agent: Agent | undefined): string | undefined {
  return findSubagent(agent)?.wireId;
}

/** Returns the given agent or its nearest ancestor that the client knows as a sub-agent. */
function findSubagent(agent: Agent | undefined): Agent | undefined {
  for (let at = agent; at; at = at.parent) if (at.wireId !== undefined) return at;
  return undefined;
}

/** Attribution of an event to a sub-agent; empty for the main agent. */
export function ownerField(owner: string | undefined): { subagentRunId?: string } {
  return owner === undefined ? {} : { subagentRunId: owner };
}
