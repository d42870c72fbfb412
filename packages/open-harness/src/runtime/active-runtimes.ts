import type { RuntimeEvent } from './runtime-event.ts';
import type { RunSnapshot, RuntimeLike } from './runtime.ts';

/** What we know of a runtime that is at work for us. */
export type ActiveRuntime = { promise?: Promise<RunSnapshot>; nodeRunId?: string };

/** A runtime tells neither its running promise nor its active node to those who come later. */
const active = new WeakMap<RuntimeLike, ActiveRuntime>();

export function activeRuntime(runtime: RuntimeLike): ActiveRuntime | undefined {
  return active.get(runtime);
}

/** From before it begins, since the first nodes may start before there is a promise, until the promise settles. */
export function startActive(runtime: RuntimeLike, begin: () => Promise<RunSnapshot>): Promise<RunSnapshot> {
  const mine: ActiveRuntime = {};
  active.set(runtime, mine);
  const forget = (): void => {
    if (active.get(runtime) === mine) active.delete(runtime);
  };
  try {
    mine.promise = begin();
  } catch (error) {
    mine.promise = Promise.reject(error);
  }
  mine.promise.then(forget, forget);
  return mine.promise;
}

/** Follows which node is at work. */
export function watchActive(runtime: RuntimeLike, event: RuntimeEvent): void {
  const known = active.get(runtime);
  if (known === undefined) return;
  if (event.type === 'node:start') known.nodeRunId = event.runId;
  else if (event.type === 'node:complete' || event.type === 'node:error') delete known.nodeRunId;
}
