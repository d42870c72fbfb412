import {
  applyPatch,
  mergeMetadata,
  type AgentEvent,
  type EventOf,
  type Json,
  type JsonObject,
  type OnLoss,
  type Op,
} from '@intertie/core';
import { slotKey } from './intertie-slot.ts';
import { defined } from './read-fields.ts';

/** How many notices are told: the first say most, and a metadata object is no log. */
const maxNotices = 20;

/** What a run says that a V3 model has no part for. The last of each is told in the metadata of `finish`. */
export class V3Summary {
  #onLoss: OnLoss;
  #said: JsonObject = {};
  #agents = new Map<string, { name: string; kind: string; parentAgentId?: string }>();
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
        if (this.#notices.length < maxNotices) this.#notices.push({ level, message, ...defined({ code }) });
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
    const data = Array.from(this.#data.values(), (known) => [known.name, known.data] as const);
    return {
      outcome,
      ...this.#said,
      ...(this.#agents.size > 0 && { agents: Object.fromEntries(this.#agents) }),
      ...defined({ result, resume }),
      ...(data.length > 0 && { data: Object.fromEntries(data) }),
      ...(this.#notices.length > 0 && { notices: this.#notices }),
      ...(end.outcome === 'paused' && { waitingFor: end.waitingFor }),
    };
  }

  #agent({ agentId, name, kind, parentAgentId }: EventOf<'agent-start'>): void {
    const before = this.#agents.get(agentId);
    this.#agents.set(agentId, { ...before, name, kind, ...(parentAgentId !== undefined && { parentAgentId }) });
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
