import type { RuntimeEvent } from './runtime-event.ts';
import type { RunSnapshot, RuntimeLike } from './runtime.ts';

/** What we know of a runtime that is at work for us. */
export type ActiveRuntime = { promise?: Promise<RunSnapshot>; nodeRunId?: string };

/** A runtime tells neither its running promise nor its active node to those who come later. */
const active = new WeakMap<RuntimeLike, ActiveRuntime>();

export function getActiveRuntime(runtime: RuntimeLike): ActiveRuntime | undefined {
  return active.get(runtime);
}

/** From before it begins, since the first nodes may start before there is a promise, until the promise settles. */
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

/** Follows which node is at work. */
export function trackActiveNode(runtime: RuntimeLike, event: RuntimeEvent): void {
  const entry = active.get(runtime);
  if (entry === undefined) return;
  if (event.type === 'node:start') entry.nodeRunId = event.runId;
  else if (event.type === 'node:complete' || event.type === 'node:error') delete entry.nodeRunId;
}
