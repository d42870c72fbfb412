import type { Emit, EventOf, JsonObject, MessageContent, OnLoss } from '@intertie/core';
import { defined, omit } from '../../shared/read-fields.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk } from '../chunk/ui-message-chunk.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type Write = Emit<UIMessageChunk>;
type Agent = {
  data: JsonObject & { agentId: string };
  parentAgentId?: string;
  /** Whether the client's message contains the agent's part. */
  isPersisted: boolean;
  /** Step whose content made the agent persistent. */
  firstStepId?: string;
};

/** Encodes agents: as transient data first, and as part of the message once the agent has produced content. */
export class UIAgentEncoder {
  #steps: UIStepEncoder;
  #onLoss: OnLoss;
  #agents = new Map<string, Agent>();

  constructor(steps: UIStepEncoder, onLoss: OnLoss) {
    this.#steps = steps;
    this.#onLoss = onLoss;
  }

  /** Adds agents of the baseline. The client has those whose content, or whose descendants' content, it is shown. */
  addBaseline(agents: NonNullable<MessageContent['agents']>, authors: Iterable<string | undefined>): void {
    for (const [agentId, entry] of Object.entries(agents)) {
      this.#agents.set(agentId, { ...toAgent(agentId, entry), isPersisted: false });
    }
    for (const agentId of authors) {
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
      const why = 'The agent continues under another parent; the client keeps its first position.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id: agentId });
    }
    if (agent.isPersisted) this.ensurePersisted(agent.parentAgentId, undefined, emit);
    this.#emitAgent(agent, emit);
  }

  /** Returns false if the agent is unknown. */
  encodeEnd(event: EventOf<'agent-end'>, emit: Write): boolean {
    const agent = this.#agents.get(event.agentId);
    if (agent === undefined) return false;
    const { outcome, result, usage } = event;
    const error = event.outcome === 'error' ? event.error : undefined;
    agent.data = { ...agent.data, outcome, ...defined({ error, result, usage }) };
    this.#emitAgent(agent, emit);
    return true;
  }

  /** Makes an agent and its ancestors part of the message, when the agent produces its first content. */
  ensurePersisted(agentId: string | undefined, stepId: string | undefined, emit: Write): void {
    const agent = this.#get(agentId);
    if (agent === undefined || agent.isPersisted) return;
    agent.isPersisted = true;
    if (stepId !== undefined) agent.firstStepId = stepId;
    this.ensurePersisted(agent.parentAgentId, stepId, emit);
    this.#steps.addPart(undefined);
    this.#emitAgent(agent, emit);
  }

  /** Reports agents that stay in the client's message although their step was discarded. */
  discardStep(stepId: string): void {
    for (const [id, { firstStepId }] of this.#agents) {
      if (firstStepId !== stepId) continue;
      const why = 'Its content was discarded, but the client keeps the agent.';
      this.#onLoss({ kind: 'unsupported', what: 'order', why, id });
    }
  }

  #get(agentId: string | undefined): Agent | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId);
  }

  /** Transient until the agent has content: a stored message would have no position for it. */
  #emitAgent({ data, isPersisted }: Agent, emit: Write): void {
    const id = toExtensionId('agent', data.agentId);
    emit({ type: 'data-agent', id, data, ...(!isPersisted && { transient: true }) });
  }
}

function toAgent(agentId: string, entry: JsonObject & { parentAgentId?: string }): Omit<Agent, 'isPersisted'> {
  const { parentAgentId } = entry;
  return { data: { agentId, ...entry }, ...(parentAgentId !== undefined && { parentAgentId }) };
}
