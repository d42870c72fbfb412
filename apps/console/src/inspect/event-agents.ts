import type { AgentEvent } from '@intertie/core';

/**
 * Who each event is of. Only the event that opens a part says so; this remembers it for the deltas, the end and the result.
 * An agent is known by its name, since that is who it is in the topology; an id is one invocation.
 */
export class EventAgents {
  /** Agents in the order in which they were first seen. */
  readonly names: string[] = [];
  #byId = new Map<string, string>();
  #parts = new Map<string, string>();
  #steps = new Map<string, string>();

  feed(event: AgentEvent): string | undefined {
    if (event.type === 'message-snapshot') this.#learn(event.content.agents ?? {});
    if (event.type === 'agent-start') this.#name(event.agentId, event.name);
    const agent = this.#agentOf(event);
    if (agent !== undefined) this.#remember(event, agent);
    return agent;
  }

  /** The name of an invocation, or its id where nobody has introduced it. */
  nameOf(agentId: string): string {
    return this.#byId.get(agentId) ?? this.#name(agentId, agentId);
  }

  #agentOf(event: AgentEvent): string | undefined {
    if ('agentId' in event && event.agentId !== undefined) return this.nameOf(event.agentId);
    if ('toolCallId' in event && event.toolCallId !== undefined) return this.#parts.get(event.toolCallId);
    if ('id' in event && event.id !== undefined) return this.#parts.get(event.id);
    if ('stepId' in event && event.stepId !== undefined) return this.#steps.get(event.stepId);
    return undefined;
  }

  #remember(event: AgentEvent, agent: string): void {
    if (event.type === 'step-start') this.#steps.set(event.stepId, agent);
    else if ('toolCallId' in event && event.toolCallId !== undefined && event.type !== 'agent-start')
      this.#parts.set(event.toolCallId, agent);
    else if ('id' in event && event.id !== undefined) this.#parts.set(event.id, agent);
  }

  #learn(agents: { [agentId: string]: { name: string } }): void {
    for (const [agentId, { name }] of Object.entries(agents)) this.#name(agentId, name);
  }

  #name(agentId: string, name: string): string {
    this.#byId.set(agentId, name);
    if (!this.names.includes(name)) this.names.push(name);
    return name;
  }
}
