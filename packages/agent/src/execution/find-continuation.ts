import type { RunRecord, Store } from '@intertie/core';
import type { StoredRun } from './stored-run.ts';

/** Default time that an answered run may take to pause. */
const defaultWaitMs = 5_000;

/**
 * Waits for a run that was answered before it paused, and returns its continuation. Returns the run itself if it is still
 * running after `waitMs`, or undefined if it ended otherwise.
 */
export async function findContinuation(
  store: Store,
  run: StoredRun,
  waitMs: number = defaultWaitMs,
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
