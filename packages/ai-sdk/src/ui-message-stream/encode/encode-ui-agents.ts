import type { Emit, EventOf, JsonObject, MessageContent, OnLoss } from '@intertie/core';
import { defined, omit } from '../../shared/read-fields.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type Write = Emit<UIMessageChunk>;
/** `isKept`: its part is in the client's message. `since`: the step whose part brought it there. */
type Agent = {
  data: JsonObject & { agentId: string };
  parentAgentId?: string;
  isPersisted: boolean;
  firstStepId?: string;
};

/** Writes agents: as data that is only shown, and from their first words on as parts of the message. */
export class UIAgentEncoder {
  #steps: UIStepEncoder;
  #onLoss: OnLoss;
  #agents = new Map<string, Agent>();

  constructor(steps: UIStepEncoder, onLoss: OnLoss) {
    this.#steps = steps;
    this.#onLoss = onLoss;
  }

  /** The client has these agents already, as far as they have said something that it is shown. */
  addBaseline(agents: NonNullable<MessageContent['agents']>, speakers: Iterable<string | undefined>): void {
    for (const [agentId, entry] of Object.entries(agents)) {
      this.#agents.set(agentId, { ...toAgent(agentId, entry), isPersisted: false });
    }
    for (const agentId of speakers) {
      for (let agent = this.#get(agentId); agent && !agent.isPersisted; agent = this.#get(agent.parentAgentId)) {
        agent.isPersisted = true;
      }
    }
  }

  encodeStart(event: EventOf<'agent-start'>, emit: Write): void {
    const { agentId, ...entry } = omit(event, 'type', 'at', 'origin');
    const before = this.#agents.get(agentId);
    const agent: Agent = { ...toAgent(agentId, entry), isPersisted: before?.isPersisted ?? false };
    this.#agents.set(agentId, agent);
    if (before?.isPersisted && before.parentAgentId !== agent.parentAgentId) {
      const why = 'It goes on under another agent; the client keeps it where it was introduced.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id: agentId });
    }
    if (agent.isPersisted) this.ensurePersisted(agent.parentAgentId, undefined, emit);
    this.#emitAgent(agent, emit);
  }

  /** Whether the agent is known. */
  encodeEnd(event: EventOf<'agent-end'>, emit: Write): boolean {
    const agent = this.#agents.get(event.agentId);
    if (agent === undefined) return false;
    const { outcome, result, usage } = event;
    const error = event.outcome === 'error' ? event.error : undefined;
    agent.data = { ...agent.data, outcome, ...defined({ error, result, usage }) };
    this.#emitAgent(agent, emit);
    return true;
  }

  /** An agent's first words, or its child's: from now on it is a part of the message. */
  ensurePersisted(agentId: string | undefined, stepId: string | undefined, emit: Write): void {
    const agent = this.#get(agentId);
    if (agent === undefined || agent.isPersisted) return;
    agent.isPersisted = true;
    if (stepId !== undefined) agent.firstStepId = stepId;
    this.ensurePersisted(agent.parentAgentId, stepId, emit);
    this.#steps.addPart(undefined);
    this.#emitAgent(agent, emit);
  }

  /** What was said in the step is taken back; who was introduced for it is not. */
  discardStep(stepId: string): void {
    for (const [id, { firstStepId }] of this.#agents) {
      if (firstStepId !== stepId) continue;
      const why = 'What it has said was taken back, and the client keeps it introduced.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id });
    }
  }

  #get(agentId: string | undefined): Agent | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  /** Before an agent has said anything, it is shown and not kept: a stored message would not know where to put it. */
  #emitAgent({ data, isPersisted }: Agent, emit: Write): void {
    emit({
      type: 'data-agent',
      id: toExtensionId('agent', data.agentId),
      data,
      ...(!isPersisted && { transient: true }),
    });
  }
}

function toAgent(agentId: string, entry: JsonObject & { parentAgentId?: string }): Omit<Agent, 'isPersisted'> {
  const { parentAgentId } = entry;
  return { data: { agentId, ...entry }, ...(parentAgentId !== undefined && { parentAgentId }) };
}
