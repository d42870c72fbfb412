import type { AgentEvent, EventOf, Json, JsonObject, OnLoss } from '@intertie/core';
import { applyPatch, mergeMetadata, type Op } from '@intertie/core/internal';
import { slotKey } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';

/** How many notices are told: the first say most, and a metadata object is no log. */
const maxNotices = 20;

type SummedAgent = { name: string; kind: string; parentAgentId?: string };

/** What a run says that a V3 model has no part for. The last of each is told in the metadata of `finish`. */
export class V3Summary {
  #onLoss: OnLoss;
  #said: JsonObject = {};
  #agents = new Map<string, SummedAgent>();
  #data = new Map<string, { name: string; data: Json }>();
  #notices: Json[] = [];
  /** The kinds that the ledger has a line of. */
  #reported = new Set<string>();

  constructor(onLoss: OnLoss) {
    this.#onLoss = onLoss;
  }

  /** Whether the event is one that is summed up here. */
  see(event: AgentEvent): boolean {
    switch (event.type) {
      case 'agent-start':
        this.#agent(event);
        return true;
      case 'metadata':
        if (event.id !== undefined) return false;
        this.#said = mergeMetadata(this.#said, { metadata: event.metadata });
        return true;
      case 'data':
        this.#data.set(event.id, { name: event.name, data: event.data });
        return this.#report('data');
      case 'data-delta': {
        const known = this.#data.get(event.id);
        if (known) known.data = patched(known.data, event.patch);
        return true;
      }
      case 'state-snapshot':
        this.#said.state = event.state;
        return this.#report('state');
      case 'state-delta':
        this.#said.state = patched(this.#said.state ?? {}, event.patch);
        return this.#report('state');
      case 'interjection': {
        const { role, name, parts } = event;
        this.#said.interjection = { role, ...defined({ name }), parts: parts as unknown as Json };
        return this.#report('interjection');
      }
      case 'notice': {
        const { level, message, code } = event;
        if (this.#notices.length < maxNotices)
          this.#notices.push(code === undefined ? { level, message } : { level, message, code });
        return this.#report('notice');
      }
      default:
        return false;
    }
  }

  agentName(agentId: string | undefined): string | undefined {
    return agentId === undefined ? undefined : this.#agents.get(agentId)?.name;
  }

  /** All of it, with how the run ended. */
  at(end: EventOf<'run-end'>): JsonObject {
    const { outcome, result, resume } = end;
    const all: JsonObject = { outcome, ...this.#said };
    if (this.#agents.size > 0) all.agents = Object.fromEntries(this.#agents);
    if (result !== undefined) all.result = result;
    if (resume !== undefined) all.resume = resume;
    if (this.#data.size > 0)
      all.data = Object.fromEntries(Array.from(this.#data.values(), ({ name, data }) => [name, data]));
    if (this.#notices.length > 0) all.notices = this.#notices;
    if (end.outcome === 'paused') all.waitingFor = end.waitingFor;
    return all;
  }

  #agent({ agentId, name, kind, parentAgentId }: EventOf<'agent-start'>): void {
    const known = this.#agents.get(agentId);
    const agent: SummedAgent = { name, kind };
    const parent = parentAgentId ?? known?.parentAgentId;
    if (parent !== undefined) agent.parentAgentId = parent;
    this.#agents.set(agentId, agent);
  }

  #report(what: string): true {
    if (this.#reported.has(what)) return true;
    this.#reported.add(what);
    const why = `V3 has no part for it: the last is told in the metadata of "finish", under "${slotKey}".`;
    this.#onLoss({ kind: 'unsupported', what, why });
    return true;
  }
}

/** A patch that fails changes nothing. */
function patched(value: Json, patch: readonly Op[]): Json {
  const result = applyPatch(value, patch);
  return result.ok ? result.value : value;
}
