import type { Continuation, StartRequest } from '../registry.ts';
import { checkStoreId } from '../store-id.ts';
import { checkStoreText } from '../store-text.ts';

/** Checks the ids and texts of a start request. */
export function checkStart({ threadId, runId, messageId, agent, process, ...rest }: StartRequest): void {
  const ids = {
    threadId,
    runId,
    messageId,
    agent,
    process,
    resourceId: rest.resourceId,
    createdBy: rest.createdBy,
    branchKey: rest.branchKey,
  };
  for (const [what, id] of Object.entries(ids)) if (id !== undefined) checkStoreId(what, id);
  if (rest.thread?.title !== undefined) checkStoreText('title', rest.thread.title);
  if (!rest.idempotency) return;
  checkStoreId('idempotency.key', rest.idempotency.key);
  checkStoreId('idempotency.hash', rest.idempotency.hash);
}

/** Checks the ids of a continuation. */
export function checkContinuation({ runId, process }: Continuation): void {
  checkStoreId('runId of the continuation', runId);
  checkStoreId('process of the continuation', process);
}
