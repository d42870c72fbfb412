import type { AgentEvent, Json } from '@intertie/core';
import { EventAgents } from '../event-agents.ts';

export type AgentState = 'idle' | 'working' | 'paused' | 'complete' | 'aborted' | 'error';
export type AgentActivity = {
  name: string;
  kind: 'agent' | 'node';
  state: AgentState;
  /** The events at which it began, and those at which it was complete. */
  starts: number[];
  completions: number[];
  /** How many events are of it. */
  events: number;
  outputTokens: number;
  /** The event that was its last. */
  lastEvent: number;
};
export type EdgeActivity = { from: string; to: string; messages: number; starts: number; lastEvent: number };

/** Who works and who speaks to whom, event by event. */
export class TopologyActivity {
  readonly agents: Map<string, AgentActivity> = new Map();
  readonly edges: Map<string, EdgeActivity> = new Map();
  #names = new EventAgents();
  #count = 0;
  /** Invocations that go on, by agent: two of one name may run side by side. */
  #running = new Map<string, Set<string>>();

  get count(): number {
    return this.#count;
  }

  feed(event: AgentEvent): void {
    const index = this.#count++;
    const name = this.#names.feed(event);
    if (name !== undefined) this.#note(name, index);
    switch (event.type) {
      case 'agent-start':
        return this.#start(event, index);
      case 'agent-end': {
        const agent = this.#agent(this.#names.nameOf(event.agentId));
        const running = this.#running.get(agent.name);
        running?.delete(event.agentId);
        if (event.outcome === 'complete') agent.completions.push(index);
        if (!running?.size) agent.state = event.outcome;
        return;
      }
      case 'step-end':
        if (name !== undefined) {
          for (const usage of event.usage ?? []) this.#agent(name).outputTokens += usage.outputTokens ?? 0;
        }
        return;
      case 'run-end':
        for (const agent of this.agents.values()) if (agent.state === 'working') agent.state = event.outcome;
        return;
      case 'interjection':
      case 'text-start':
        // An interjection is another's words: it is no agent's, or it is from the one that it names.
        if (name !== undefined) for (const to of event.to ?? []) this.#edge(name, to, index).messages++;
        return;
      case 'data':
        // How a flow says that it went along an edge.
        if (event.name === 'edge' && isEdge(event.data)) this.#edge(event.data.from, event.data.to, index).messages++;
        return;
      default:
    }
  }

  #start(event: Extract<AgentEvent, { type: 'agent-start' }>, index: number): void {
    // A voice is a speaker's name, and no place in the graph.
    if (event.kind === 'voice') return;
    const agent = this.#agent(event.name, event.kind);
    agent.state = 'working';
    agent.starts.push(index);
    const running = this.#running.get(event.name) ?? new Set();
    this.#running.set(event.name, running.add(event.agentId));
    if (event.parentAgentId === undefined) return;
    const parent = this.#names.nameOf(event.parentAgentId);
    if (parent !== event.name) this.#edge(parent, event.name, index).starts++;
  }

  #note(name: string, index: number): void {
    const agent = this.agents.get(name);
    if (!agent) return;
    agent.events++;
    agent.lastEvent = index;
  }

  #agent(name: string, kind: 'agent' | 'node' = 'agent'): AgentActivity {
    const known = this.agents.get(name);
    if (known) return known;
    const lastEvent = this.#count - 1;
    const agent: AgentActivity = {
      name,
      kind,
      state: 'idle',
      starts: [],
      completions: [],
      events: 1,
      outputTokens: 0,
      lastEvent,
    };
    this.agents.set(name, agent);
    return agent;
  }

  #edge(from: string, to: string, lastEvent: number): EdgeActivity {
    const key = edgeKey(from, to);
    const edge = this.edges.get(key) ?? { from, to, messages: 0, starts: 0, lastEvent };
    edge.lastEvent = lastEvent;
    this.edges.set(key, edge);
    return edge;
  }
}

function isEdge(data: Json): data is { from: string; to: string } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false;
  return typeof data.from === 'string' && typeof data.to === 'string';
}

export const edgeKey = (from: string, to: string): string => JSON.stringify([from, to]);
