import type { Emit, EventOf, JsonObject, MessageContent, OnLoss } from '@intertie/core';
import { defined, omit } from '../../shared/read-fields.ts';
import { extensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';
import type { UISteps } from './ui-steps.ts';

type Write = Emit<UIMessageChunk>;
/** `isKept`: its part is in the client's message. `since`: the step whose part brought it there. */
type Agent = { data: JsonObject & { agentId: string }; parentAgentId?: string; isKept: boolean; since?: string };

/** Writes agents: as data that is only shown, and from their first words on as parts of the message. */
export class UIAgents {
  #steps: UISteps;
  #onLoss: OnLoss;
  #agents = new Map<string, Agent>();

  constructor(steps: UISteps, onLoss: OnLoss) {
    this.#steps = steps;
    this.#onLoss = onLoss;
  }

  /** The client has these agents already, as far as they have said something that it is shown. */
  learn(agents: NonNullable<MessageContent['agents']>, speakers: Iterable<string | undefined>): void {
    for (const [agentId, entry] of Object.entries(agents)) {
      this.#agents.set(agentId, { ...agentOf(agentId, entry), isKept: false });
    }
    for (const agentId of speakers) {
      for (let agent = this.#get(agentId); agent && !agent.isKept; agent = this.#get(agent.parentAgentId)) {
        agent.isKept = true;
      }
    }
  }

  start(event: EventOf<'agent-start'>, emit: Write): void {
    const { agentId, ...entry } = omit(event, 'type', 'at', 'origin');
    const before = this.#agents.get(agentId);
    const agent: Agent = { ...agentOf(agentId, entry), isKept: before?.isKept ?? false };
    this.#agents.set(agentId, agent);
    if (before?.isKept && before.parentAgentId !== agent.parentAgentId) {
      const why = 'It goes on under another agent; the client keeps it where it was introduced.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id: agentId });
    }
    if (agent.isKept) this.speak(agent.parentAgentId, undefined, emit);
    this.#write(agent, emit);
  }

  /** Whether the agent is known. */
  end(event: EventOf<'agent-end'>, emit: Write): boolean {
    const agent = this.#agents.get(event.agentId);
    if (agent === undefined) return false;
    const { outcome, result, usage } = event;
    const error = event.outcome === 'error' ? event.error : undefined;
    agent.data = { ...agent.data, outcome, ...defined({ error, result, usage }) };
    this.#write(agent, emit);
    return true;
  }

  /** An agent's first words, or its child's: from now on it is a part of the message. */
  speak(agentId: string | undefined, stepId: string | undefined, emit: Write): void {
    const agent = this.#get(agentId);
    if (agent === undefined || agent.isKept) return;
    agent.isKept = true;
    if (stepId !== undefined) agent.since = stepId;
    this.speak(agent.parentAgentId, stepId, emit);
    this.#steps.note(undefined);
    this.#write(agent, emit);
  }

  /** What was said in the step is taken back; who was introduced for it is not. */
  forget(stepId: string): void {
    for (const [id, { since }] of this.#agents) {
      if (since !== stepId) continue;
      const why = 'What it has said was taken back, and the client keeps it introduced.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id });
    }
  }

  #get(agentId: string | undefined): Agent | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  /** Before an agent has said anything, it is shown and not kept: a stored message would not know where to put it. */
  #write({ data, isKept }: Agent, emit: Write): void {
    emit({ type: 'data-agent', id: extensionId('agent', data.agentId), data, ...(!isKept && { transient: true }) });
  }
}

function agentOf(agentId: string, entry: JsonObject & { parentAgentId?: string }): Omit<Agent, 'isKept'> {
  const { parentAgentId } = entry;
  return { data: { agentId, ...entry }, ...(parentAgentId !== undefined && { parentAgentId }) };
}
