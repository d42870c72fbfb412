import type { AgentEvent, Emit, Json, Meta, OnLoss } from '@intertie/core';
import { toJson, type Attribution } from '@intertie/core/internal';
import { slotOf, type AGUIAgentReader } from './decode-agents.ts';
import { laterMetaOf, metaOf } from '../shared/event-meta.ts';
import { defined, type Fields } from '../shared/read-fields.ts';

/** Who says an event, in which step, and what is said beside it. */
export class AGUISaidReader {
  #agents: AGUIAgentReader;
  #onLoss: OnLoss;

  constructor(agents: AGUIAgentReader, onLoss: OnLoss) {
    this.#agents = agents;
    this.#onLoss = onLoss;
  }

  said(event: Fields, emit: Emit<AgentEvent>): Attribution {
    const kept = slotOf(event);
    const agentId = this.#agents.agentOf(event.type === 'CUSTOM' ? { ...event, name: undefined } : event, emit);
    const to = Array.isArray(kept.to) ? kept.to.filter((name) => typeof name === 'string') : undefined;
    return {
      ...defined({ agentId, stepId: this.#agents.stepOf(event), to, providerMetadata: metaOf(event, this.#onLoss) }),
      ...(kept.internal === true && { internal: true }),
    };
  }

  /** What is said of a part beyond what was said before. */
  later(event: Fields, before: Meta | undefined): Meta | undefined {
    return laterMetaOf(event, before, this.#onLoss);
  }

  json(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}
