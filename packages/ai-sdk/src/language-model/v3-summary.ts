import type { AgentEvent, EventOf, Json, JsonObject, OnLoss } from '@intertie/core';
import { applyPatch, mergeMetadata, type Op } from '@intertie/core/internal';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';

/** Maximum number of notices: the first ones matter most, and metadata is not a log. */
const maxNotices = 20;

type AgentSummary = { name: string; kind: string; parentAgentId?: string };

/** Collects the events that have no V3 part. Their latest values are sent in the metadata of `finish`. */
export class V3Summary {
  #onLoss: OnLoss;
  #fields: JsonObject = {};
  #agents = new Map<string, AgentSummary>();
  #data = new Map<string, { name: string; data: Json }>();
  #notices: Json[] = [];
  /** Event types already reported as lost. */
  #reported = new Set<string>();

  constructor(onLoss: OnLoss) {
    this.#onLoss = onLoss;
  }

  /** Records an event. Returns false if it does not belong in the summary. */
  record(event: AgentEvent): boolean {
    switch (event.type) {
      case 'agent-start':
        this.#recordAgent(event);
        return true;
      case 'metadata':
        if (event.id !== undefined) return false;
        this.#fields = mergeMetadata(this.#fields, { metadata: event.metadata });
        return true;
      case 'data':
        this.#data.set(event.id, { name: event.name, data: event.data });
        return this.#reportOnce('data');
      case 'data-delta': {
        const known = this.#data.get(event.id);
        if (known) known.data = tryPatch(known.data, event.patch);
        return true;
      }
      case 'state-snapshot':
        this.#fields.state = event.state;
        return this.#reportOnce('state');
      case 'state-delta':
        this.#fields.state = tryPatch(this.#fields.state ?? {}, event.patch);
        return this.#reportOnce('state');
      case 'interjection': {
        const { role, name, parts } = event;
        this.#fields.interjection = { role, ...defined({ name }), parts: parts as unknown as Json };
        return this.#reportOnce('interjection');
      }
      case 'notice': {
        const { level, message, code } = event;
        if (this.#notices.length < maxNotices)
          this.#notices.push(code === undefined ? { level, message } : { level, message, code });
        return this.#reportOnce('notice');
      }
      default:
        return false;
    }
  }

  getAgentName(agentId: string | undefined): string | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId)?.name;
  }

  /** Builds the metadata, including the outcome of the run. */
  build(end: EventOf<'run-end'>): JsonObject {
    const { outcome, result, resume } = end;
    const summary: JsonObject = { outcome, ...this.#fields };
    if (this.#agents.size > 0) summary.agents = Object.fromEntries(this.#agents);
    if (result !== undefined) summary.result = result;
    if (resume !== undefined) summary.resume = resume;
    if (this.#data.size > 0)
      summary.data = Object.fromEntries(Array.from(this.#data.values(), ({ name, data }) => [name, data]));
    if (this.#notices.length > 0) summary.notices = this.#notices;
    if (end.outcome === 'paused') summary.waitingFor = end.waitingFor;
    return summary;
  }

  #recordAgent({ agentId, name, kind, parentAgentId }: EventOf<'agent-start'>): void {
    const known = this.#agents.get(agentId);
    const agent: AgentSummary = { name, kind };
    const parent = parentAgentId ?? known?.parentAgentId;
    if (parent !== undefined) agent.parentAgentId = parent;
    this.#agents.set(agentId, agent);
  }

  #reportOnce(what: string): true {
    if (this.#reported.has(what)) return true;
    this.#reported.add(what);
    const why = `V3 has no part for it. The last value is in the metadata of "finish", under "${metadataKey}".`;
    this.#onLoss({ kind: 'unsupported', what, why });
    return true;
  }
}

/** Returns the value unchanged if the patch fails. */
function tryPatch(value: Json, patch: readonly Op[]): Json {
  const result = applyPatch(value, patch);
  return result.ok ? result.value : value;
}
