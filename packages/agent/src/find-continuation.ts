import type { RunRecord, Store } from '@intertie/core';
import type { StoredRun } from './stored-run.ts';

/**
 * What goes on with a run that was answered before it had paused: it pauses in a moment, and its end is the beginning of the
 * next one. Undefined where it ended otherwise.
 */
export async function findContinuation(store: Store, run: StoredRun): Promise<RunRecord | undefined> {
  const reader = run.follow().getReader();
  // oxlint-disable-next-line no-await-in-loop -- to the end
  while (!(await reader.read()).done);
  const runs = await store.registry.listRuns(store.scope, { threadId: run.threadId });
  return runs.find(({ resumes }) => resumes === run.key);
}
