import type { AgentEvent, Emit, JsonObject, RunInput } from '@intertie/core';
import { defined } from '../../shared/read-fields.ts';

/** The agents of a UI message stream: each is a piece of data that is said again whenever it changes. */
export class UIAgentDecoder {
  #agents = new Map<string, 'open' | 'ended'>();

  constructor({ message }: RunInput) {
    for (const [agentId, { outcome }] of Object.entries(message?.agents ?? {})) {
      if (outcome !== 'paused') this.#agents.set(agentId, 'ended');
    }
  }

  /** An agent that speaks, and that nobody has introduced, is introduced by its id. */
  ensureStarted(agentId: string, emit: Emit<AgentEvent>): void {
    if (this.#agents.has(agentId)) return;
    this.#agents.set(agentId, 'open');
    emit({ type: 'agent-start', agentId, name: agentId, kind: 'agent' });
  }

  /** What is new in a `data-agent`. `write` says whether the event is one. */
  decodeData(agentId: string, data: JsonObject, write: (event: object) => boolean): void {
    const { agentId: _, outcome, error, result, usage, ...entry } = data;
    const isEnd = outcome !== undefined;
    const state = this.#agents.get(agentId);
    if (state === undefined || (state === 'ended' && !isEnd)) {
      if (!write({ type: 'agent-start', ...entry, agentId })) return;
      this.#agents.set(agentId, 'open');
    }
    if (!isEnd || state === 'ended') return;
    const waitingFor = outcome === 'paused' ? { waitingFor: [] } : {};
    const end = { type: 'agent-end', agentId, outcome, ...defined({ error, result, usage }), ...waitingFor };
    if (write(end)) this.#agents.set(agentId, 'ended');
  }
}
