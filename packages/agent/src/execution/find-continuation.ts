import type { RunRecord, Store } from '@intertie/core';
import type { StoredRun } from './stored-run.ts';

/** How long a run that has its answers may take to pause. */
const patienceMs = 5_000;

/**
 * What goes on with a run that was answered before it had paused: it pauses in a moment, and its end is the beginning of the
 * next one. Where it has more to do first, it is the run itself. Undefined where it ended otherwise.
 */
export async function findContinuation(
  store: Store,
  run: StoredRun,
  waitMs: number = patienceMs,
): Promise<RunRecord | undefined> {
  const reader = run.follow().getReader();
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), waitMs);
  while (!(await reader.read()).done);
  clearTimeout(timer);
  const runs = await store.registry.listRuns(store.scope, { threadId: run.threadId });
  return (
    runs.find(({ resumes }) => resumes === run.key) ??
    runs.find(({ key, state }) => key === run.key && state === 'running')
  );
}
