import type { AgentEvent, Emit, Json, Meta, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { Attribution } from '@intertie/core/internal';
import { readMetadata, type AgentDecoder } from './decode-agents.ts';
import { readLaterMeta, readMeta } from '../shared/event-meta.ts';
import { defined, type Fields } from '../shared/read-fields.ts';

/** Decodes the attribution of an event: agent, step, recipients and metadata. */
export class AttributionDecoder {
  #agents: AgentDecoder;
  #onLoss: OnLoss;

  constructor(agents: AgentDecoder, onLoss: OnLoss) {
    this.#agents = agents;
    this.#onLoss = onLoss;
  }

  read(event: Fields, emit: Emit<AgentEvent>): Attribution {
    const extra = readMetadata(event);
    const agentId = this.#agents.resolveAgent(event.type === 'CUSTOM' ? { ...event, name: undefined } : event, emit);
    const to = Array.isArray(extra.to) ? extra.to.filter((name) => typeof name === 'string') : undefined;
    return {
      ...defined({
        agentId,
        stepId: this.#agents.findStep(event),
        to,
        providerMetadata: readMeta(event, this.#onLoss),
      }),
      ...(extra.internal === true && { internal: true }),
    };
  }

  /** Returns the metadata that an event adds to a part. */
  readLaterMeta(event: Fields, before: Meta | undefined): Meta | undefined {
    return readLaterMeta(event, before, this.#onLoss);
  }

  toJson(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }
}
