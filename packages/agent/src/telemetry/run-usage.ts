import type { AgentEvent, Usage } from '@intertie/core';
import { sumUsage } from './sum-usage.ts';

/**
 * What the agents and the turns inside a run have consumed, for a run whose end does not say: it was stopped, or its runtime
 * reports by agent alone.
 */
export class RunUsage {
  #agentOfStep = new Map<string, string>();
  /** By agent; those of none by ''. */
  #steps = new Map<string, Usage[]>();
  #agents = new Map<string, Usage[]>();

  see(event: AgentEvent): void {
    if (event.type === 'step-start' && event.agentId !== undefined) this.#agentOfStep.set(event.stepId, event.agentId);
    if (event.type === 'step-end' && event.usage) {
      const agentId = this.#agentOfStep.get(event.stepId) ?? '';
      this.#steps.set(agentId, [...(this.#steps.get(agentId) ?? []), ...event.usage]);
    }
    if (event.type === 'agent-end' && event.usage) this.#agents.set(event.agentId, event.usage);
  }

  /** Undefined: nobody has said. What an agent says of itself counts before what its turns say. */
  get total(): Usage[] | undefined {
    const turns = [...this.#steps].flatMap(([agentId, usage]) => (this.#agents.has(agentId) ? [] : usage));
    const all = [...[...this.#agents.values()].flat(), ...turns];
    return all.length > 0 ? sumUsage(all) : undefined;
  }
}
