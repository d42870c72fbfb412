import {
  equalJson,
  toJson,
  type AgentEvent,
  type Emit,
  type Json,
  type Meta,
  type OnLoss,
  type Said,
} from '@intertie/core';
import { slotOf, type AGUIAgentReader } from './decode-agents.ts';
import { slotKey } from './intertie-slot.ts';
import { defined, fieldsOf, isFields, type Fields } from './read-fields.ts';

/** Who says an event, in which step, and what is said beside it. */
export class AGUISaidReader {
  #agents: AGUIAgentReader;
  #onLoss: OnLoss;

  constructor(agents: AGUIAgentReader, onLoss: OnLoss) {
    this.#agents = agents;
    this.#onLoss = onLoss;
  }

  said(event: Fields, emit: Emit<AgentEvent>): Said {
    const kept = slotOf(event);
    const agentId = this.#agents.agentOf(event.type === 'CUSTOM' ? { ...event, name: undefined } : event, emit);
    const to = Array.isArray(kept.to) ? kept.to.filter((name) => typeof name === 'string') : undefined;
    return {
      ...defined({ agentId, stepId: this.#agents.stepOf(event), to, providerMetadata: this.#meta(event) }),
      ...(kept.internal === true && { internal: true }),
    };
  }

  /** What an end says beyond what the start did. */
  laterMeta(event: Fields, before: Meta | undefined): { providerMetadata?: Meta } {
    const meta = this.#meta(event);
    return meta === undefined || (before && equalJson(meta, before)) ? {} : { providerMetadata: meta };
  }

  json(value: unknown): Json {
    return value === undefined ? null : toJson(value, this.#onLoss);
  }

  /** A provider's metadata that we have sent, and what else an agent has said there. */
  #meta(event: Fields): Meta | undefined {
    const { [slotKey]: kept, ...foreign } = fieldsOf(event.metadata);
    const { providerMetadata } = fieldsOf(kept);
    const meta: Meta = {
      ...(isFields(providerMetadata) && (this.json(providerMetadata) as Meta)),
      ...(Object.keys(foreign).length > 0 && { 'ag-ui': { metadata: this.json(foreign) } }),
    };
    return Object.keys(meta).length > 0 ? meta : undefined;
  }
}
