import type { AgentEvent, Emit, JsonObject, RunInput } from '@intertie/core';
import { defined } from '../../shared/read-fields.ts';

/** Decodes the agents of a UI message stream: data that is sent again whenever the agent changes. */
export class UIAgentDecoder {
  #agents = new Map<string, 'open' | 'ended'>();

  constructor({ message }: RunInput) {
    for (const [agentId, { outcome }] of Object.entries(message?.agents ?? {})) {
      if (outcome !== 'paused') this.#agents.set(agentId, 'ended');
    }
  }

  /** Emits `agent-start` for an agent that content refers to but that was never announced. */
  ensureStarted(agentId: string, emit: Emit<AgentEvent>): void {
    if (this.#agents.has(agentId)) return;
    this.#agents.set(agentId, 'open');
    emit({ type: 'agent-start', agentId, name: agentId, kind: 'agent' });
  }

  /** Emits the changes of a `data-agent`. `write` returns false if an event is invalid. */
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
