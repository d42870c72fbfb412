import type { AgentEvent, Json } from '@intertie/core';
import { EventAgents } from '../event-agents.ts';

export type AgentState = 'idle' | 'working' | 'paused' | 'complete' | 'aborted' | 'error';
export type AgentActivity = {
  name: string;
  /** A voice only names a speaker: it is a node of the graph only if the topology declares it. */
  kind: 'agent' | 'node' | 'voice';
  state: AgentState;
  /** Indices of the events at which it started, and at which it completed. */
  starts: number[];
  completions: number[];
  /** Number of its events. */
  events: number;
  outputTokens: number;
  /** Index of its last event. */
  lastEvent: number;
};
export type EdgeActivity = { from: string; to: string; messages: number; starts: number; lastEvent: number };

/** Folds events to the state of each agent and the messages and starts between agents. */
export class TopologyActivity {
  readonly agents: Map<string, AgentActivity> = new Map();
  readonly edges: Map<string, EdgeActivity> = new Map();
  /** Events that name no agent. They belong to the agent of the run, if its topology has one. */
  unnamed: AgentActivity | undefined;
  #names = new EventAgents();
  #count = 0;
  /** Open invocations by agent: two invocations of the same agent may overlap. */
  #running = new Map<string, Set<string>>();

  get count(): number {
    return this.#count;
  }

  feed(event: AgentEvent): void {
    const index = this.#count++;
    const name = this.#names.feed(event);
    if (name !== undefined) this.#countEvent(name, index);
    else this.#countUnnamed(event, index);
    switch (event.type) {
      case 'agent-start':
        return this.#start(event, index);
      case 'agent-end': {
        const agent = this.#getAgent(this.#names.getName(event.agentId));
        const running = this.#running.get(agent.name);
        running?.delete(event.agentId);
        if (event.outcome === 'complete') agent.completions.push(index);
        if (!running?.size) agent.state = event.outcome;
        return;
      }
      case 'step-end':
        if (name !== undefined) {
          for (const usage of event.usage ?? []) this.#getAgent(name).outputTokens += usage.outputTokens ?? 0;
        }
        return;
      case 'run-end':
        for (const agent of this.agents.values()) if (agent.state === 'working') agent.state = event.outcome;
        return;
      case 'interjection':
      case 'text-start':
        // Without a name, an interjection comes from the user or the system.
        if (name !== undefined) for (const to of event.to ?? []) this.#getEdge(name, to, index).messages++;
        return;
      case 'data':
        // Emitted by flows that follow an edge.
        if (event.name === 'edge' && isEdge(event.data))
          this.#getEdge(event.data.from, event.data.to, index).messages++;
        return;
      default:
    }
  }

  #start(event: Extract<AgentEvent, { type: 'agent-start' }>, index: number): void {
    const agent = this.#getAgent(event.name, event.kind);
    agent.state = 'working';
    agent.starts.push(index);
    const running = this.#running.get(event.name) ?? new Set();
    this.#running.set(event.name, running.add(event.agentId));
    if (event.parentAgentId === undefined) return;
    const parent = this.#names.getName(event.parentAgentId);
    if (parent !== event.name) this.#getEdge(parent, event.name, index).starts++;
  }

  #countUnnamed(event: AgentEvent, index: number): void {
    this.unnamed ??= createActivity('', 'agent', index);
    this.unnamed.events++;
    this.unnamed.lastEvent = index;
    if (event.type === 'run-end') this.unnamed.state = event.outcome;
    else if (event.type === 'run-start') this.unnamed.state = 'working';
    else if (event.type === 'step-end')
      for (const usage of event.usage ?? []) this.unnamed.outputTokens += usage.outputTokens ?? 0;
  }

  #countEvent(name: string, index: number): void {
    const agent = this.agents.get(name);
    if (!agent) return;
    agent.events++;
    agent.lastEvent = index;
  }

  #getAgent(name: string, kind: AgentActivity['kind'] = 'agent'): AgentActivity {
    const known = this.agents.get(name);
    if (known) return known;
    const agent = { ...createActivity(name, kind, this.#count - 1), events: 1 };
    this.agents.set(name, agent);
    return agent;
  }

  #getEdge(from: string, to: string, lastEvent: number): EdgeActivity {
    const key = toEdgeKey(from, to);
    const edge = this.edges.get(key) ?? { from, to, messages: 0, starts: 0, lastEvent };
    edge.lastEvent = lastEvent;
    this.edges.set(key, edge);
    return edge;
  }
}

function createActivity(name: string, kind: AgentActivity['kind'], lastEvent: number): AgentActivity {
  return { name, kind, state: 'idle', starts: [], completions: [], events: 0, outputTokens: 0, lastEvent };
}

function isEdge(data: Json): data is { from: string; to: string } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false;
  return typeof data.from === 'string' && typeof data.to === 'string';
}

export const toEdgeKey = (from: string, to: string): string => JSON.stringify([from, to]);
