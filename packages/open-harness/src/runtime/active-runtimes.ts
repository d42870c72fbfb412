import type { RuntimeEvent } from './runtime-event.ts';
import type { RunSnapshot, RuntimeLike } from './runtime.ts';

/** State of a runtime that we have started. */
export type ActiveRuntime = { promise?: Promise<RunSnapshot>; nodeRunId?: string };

/** Runtimes expose neither their running promise nor their active node, so a second request finds them here. */
const active = new WeakMap<RuntimeLike, ActiveRuntime>();

export function getActiveRuntime(runtime: RuntimeLike): ActiveRuntime | undefined {
  return active.get(runtime);
}

/** Starts a runtime and registers it until its promise settles. Registered first, because nodes may start synchronously. */
export function startRuntime(runtime: RuntimeLike, begin: () => Promise<RunSnapshot>): Promise<RunSnapshot> {
  const entry: ActiveRuntime = {};
  active.set(runtime, entry);
  const forget = (): void => {
    if (active.get(runtime) === entry) active.delete(runtime);
  };
  try {
    entry.promise = begin();
  } catch (error) {
    entry.promise = Promise.reject(error);
  }
  entry.promise.then(forget, forget);
  return entry.promise;
}

/** Updates the active node of a runtime. */
export function trackActiveNode(runtime: RuntimeLike, event: RuntimeEvent): void {
  const entry = active.get(runtime);
  if (entry === undefined) return;
  if (event.type === 'node:start') entry.nodeRunId = event.runId;
  else if (event.type === 'node:complete' || event.type === 'node:error') delete entry.nodeRunId;
}
