import type { AgentEvent } from '@intertie/core';

/**
 * Attributes each event to an agent. Only the event that opens a part names the agent; deltas, ends and results refer to the part.
 * Agents are identified by name, as in the topology: an agent id stands for one invocation.
 */
export class EventAgents {
  /** Agent names in order of appearance. */
  readonly names: string[] = [];
  #byId = new Map<string, string>();
  #parts = new Map<string, string>();
  #steps = new Map<string, string>();

  feed(event: AgentEvent): string | undefined {
    if (event.type === 'message-snapshot') this.#addAll(event.content.agents ?? {});
    if (event.type === 'agent-start') this.#add(event.agentId, event.name);
    const agent = this.#findAgent(event);
    if (agent !== undefined) this.#remember(event, agent);
    return agent;
  }

  /** Returns the name of an invocation, or its id if no event has introduced it. */
  getName(agentId: string): string {
    return this.#byId.get(agentId) ?? this.#add(agentId, agentId);
  }

  #findAgent(event: AgentEvent): string | undefined {
    if ('agentId' in event && event.agentId !== undefined) return this.getName(event.agentId);
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

  #addAll(agents: { [agentId: string]: { name: string } }): void {
    for (const [agentId, { name }] of Object.entries(agents)) this.#add(agentId, name);
  }

  #add(agentId: string, name: string): string {
    this.#byId.set(agentId, name);
    if (!this.names.includes(name)) this.names.push(name);
    return name;
  }
}
