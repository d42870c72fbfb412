import type { AgentEvent, Usage } from '@intertie/core';
import { sumUsage } from '@intertie/core/internal';

/**
 * Sums the usage that agents and steps report, for a run whose end has no usage: it was stopped, or its runtime reports usage
 * by agent only.
 */
export class RunUsage {
  #stepAgents = new Map<string, string>();
  /** By agent id; '' for steps outside an agent. */
  #steps = new Map<string, Usage[]>();
  #agents = new Map<string, Usage[]>();

  record(event: AgentEvent): void {
    if (event.type === 'step-start' && event.agentId !== undefined) this.#stepAgents.set(event.stepId, event.agentId);
    if (event.type === 'step-end' && event.usage) {
      const agentId = this.#stepAgents.get(event.stepId) ?? '';
      this.#steps.set(agentId, [...(this.#steps.get(agentId) ?? []), ...event.usage]);
    }
    if (event.type === 'agent-end' && event.usage) this.#agents.set(event.agentId, event.usage);
  }

  /** Undefined if no usage was reported. An agent's own report replaces those of its steps. */
  get total(): Usage[] | undefined {
    const steps = [...this.#steps].flatMap(([agentId, usage]) => (this.#agents.has(agentId) ? [] : usage));
    const all = [...[...this.#agents.values()].flat(), ...steps];
    return all.length > 0 ? sumUsage(all) : undefined;
  }
}
