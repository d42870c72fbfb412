import { omit } from '../../json/fields.ts';
import { findMessage, nextVersion, findSubtree } from './conversation.ts';
import { isOpen, settleDecision } from './decision-row.ts';
import { dropLog, endRun } from './run-row.ts';
import type { MessageRow, RunRow, Tables, ThreadRow } from './tables.ts';

/** Replaces the message and its descendants by tombstones, which `listChanges` reports. */
export function deleteSubtree(tables: Tables, root: MessageRow): void {
  const { thread } = root;
  const version = nextVersion(tables, thread);
  const rows = new Set(findSubtree(thread, root));
  for (const run of thread.runs.values()) if (rows.has(run.message)) deleteRun(tables, run);
  for (const row of rows) {
    const rest = omit(row.message, 'state', 'sourceState');
    row.message = { ...rest, content: { format: 2, parts: [] } };
    row.version = version;
    row.deleted = true;
  }
  if (thread.headId === undefined || findMessage(thread, thread.headId)) return;
  // The head was below the root, so the remaining branch ends with the root's parent.
  if (root.message.parentId === undefined) delete thread.headId;
  else thread.headId = root.message.parentId;
}

/** Ends a run whose message is deleted, and drops its log. */
function deleteRun(tables: Tables, run: RunRow): void {
  for (const decision of run.decisions.values()) if (isOpen(decision)) settleDecision(tables, decision, 'cancelled');
  if (run.endedAt === undefined) {
    tables.hints.publish({ type: 'stop', run: run.key });
    endRun(tables, run, { outcome: 'aborted', by: 'user', reason: 'deleted' });
  }
  dropLog(tables, run);
}

export function deleteThreadRow(tables: Tables, thread: ThreadRow): void {
  for (const run of thread.runs.values()) {
    deleteRun(tables, run);
    tables.runs.delete(run.key);
  }
  thread.deleted = true;
  for (const row of thread.messages.values()) row.deleted = true;
  tables.threads.get(thread.scope)?.delete(thread.id);
  tables.hints.publish({ type: 'thread', scope: thread.scope, threadId: thread.id });
}
