import type { AgentEvent, Json } from '@intertie/core';
import { applyPatch } from '@intertie/core/internal';
import { LiveRuns } from './live-runs.ts';

/** What a run leaves for the next one, and a page must not see or cannot hold. */
export type RunMemory = { sourceState?: Json; state?: Json };

/** How many runs are remembered. The oldest are forgotten first; their threads then start afresh with the runtime. */
const maxRuns = 1000;

/** Where there is no store: the runtime's tokens and the shared state, by run, as long as the process lives. */
export class ChatMemory {
  readonly live: LiveRuns = new LiveRuns();
  #runs = new Map<string, RunMemory>();

  recall(runId: string | undefined): RunMemory {
    return (runId === undefined ? undefined : this.#runs.get(runId)) ?? {};
  }

  /** Sees the events of a run, and keeps what they leave. */
  watch(runId: string): (event: AgentEvent) => void {
    const left: RunMemory = {};
    // What patches have made is ours, and is changed as it is: a state may be large, and its changes many.
    const owned = new WeakSet<object>();
    return (event) => {
      if (event.type === 'state-snapshot') left.state = event.state;
      else if (event.type === 'state-delta') {
        const patched = applyPatch(left.state ?? {}, event.patch, owned);
        if (patched.ok) left.state = patched.value;
      } else if (event.type === 'run-end') {
        if (event.resume !== undefined) left.sourceState = event.resume;
        if (Object.keys(left).length > 0) this.#keep(runId, left);
      }
    };
  }

  #keep(runId: string, left: RunMemory): void {
    this.#runs.set(runId, left);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) return;
      this.#runs.delete(oldest);
    }
  }
}
