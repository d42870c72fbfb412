import type { EventOf } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { AGUIAgents } from './encode-agents.ts';
import type { AGUITools } from './encode-tools.ts';

type Write = (event: AGUIEvent) => void;
type Result = EventOf<'tool-result'>;

/** What the tools of a turn gave back, as a phase of its own: held until the turn is over. */
export class AGUIPhases {
  #tools: AGUITools;
  #agents: AGUIAgents;
  #held = new Map<string, Result[]>();

  constructor(tools: AGUITools, agents: AGUIAgents) {
    this.#tools = tools;
    this.#agents = agents;
  }

  /** Whether the result is told later. */
  hold(event: Result): boolean {
    const { toolCallId } = event;
    const stepId = this.#tools.stepOf(toolCallId);
    const isPreliminary = event.status === 'ok' && event.preliminary;
    if (isPreliminary || this.#tools.executorOf(toolCallId) === 'provider' || stepId === undefined) return false;
    if (!this.#agents.hasStep(stepId)) return false;
    const held = this.#held.get(stepId);
    if (held) held.push(event);
    else this.#held.set(stepId, [event]);
    return true;
  }

  discard(stepId: string): void {
    this.#held.delete(stepId);
  }

  flush(stepId: string, write: Write): void {
    const held = this.#held.get(stepId) ?? [];
    this.#held.delete(stepId);
    const written: AGUIEvent[] = [];
    for (const result of held) this.#tools.result(result, (event) => void written.push(event));
    if (written.length === 0) return;
    const owner = this.#tools.ownerOf(held[0]!.toolCallId);
    this.#agents.executing(owner, write, () => written.forEach(write));
  }

  flushAll(write: Write): void {
    for (const stepId of this.#held.keys()) this.flush(stepId, write);
  }
}
