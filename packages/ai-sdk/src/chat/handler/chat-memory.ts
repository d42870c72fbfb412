import type { AgentEvent, Json } from '@intertie/core';
import { applyPatch } from '@intertie/core/internal';
import { LiveRuns } from './live-runs.ts';

/** State that a run leaves for the next one and that must not be sent to the client. */
export type RunMemory = { sourceState?: Json; state?: Json };

/** Maximum number of runs. The oldest are evicted; their threads then start afresh with the runtime. */
const maxRuns = 1000;

/** Keeps runtime tokens and shared state by run in this process, for handlers without a store. */
export class ChatMemory {
  readonly live: LiveRuns = new LiveRuns();
  #runs = new Map<string, RunMemory>();

  recall(runId: string | undefined): RunMemory {
    return (runId === undefined ? undefined : this.#runs.get(runId)) ?? {};
  }

  /** Returns an observer for the events of a run, which stores the run's final state. */
  watch(runId: string): (event: AgentEvent) => void {
    const memory: RunMemory = {};
    // Objects created by patches are ours and can be changed in place: a state may be large and change often.
    const owned = new WeakSet<object>();
    return (event) => {
      if (event.type === 'state-snapshot') memory.state = event.state;
      else if (event.type === 'state-delta') {
        const patched = applyPatch(memory.state ?? {}, event.patch, owned);
        if (patched.ok) memory.state = patched.value;
      } else if (event.type === 'run-end') {
        if (event.resume !== undefined) memory.sourceState = event.resume;
        if (Object.keys(memory).length > 0) this.#store(runId, memory);
      }
    };
  }

  #store(runId: string, memory: RunMemory): void {
    this.#runs.set(runId, memory);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) return;
      this.#runs.delete(oldest);
    }
  }
}
