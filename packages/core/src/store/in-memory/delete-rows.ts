import { omit } from '../../json/fields.ts';
import { findMessage, nextVersion, subtreeOf } from './conversation.ts';
import { isOpen, settle } from './decision-row.ts';
import { dropLog, endRun } from './run-row.ts';
import type { MessageRow, RunRow, Tables, ThreadRow } from './tables.ts';

/** Leaves a tombstone of the message and of all that follows it, for those who ask what changed. */
export function deleteSubtree(tables: Tables, root: MessageRow): void {
  const { thread } = root;
  const version = nextVersion(tables, thread);
  const rows = new Set(subtreeOf(thread, root));
  for (const run of thread.runs.values()) if (rows.has(run.message)) deleteRunOf(tables, run);
  for (const row of rows) {
    const rest = omit(row.message, 'state', 'sourceState');
    row.message = { ...rest, content: { format: 2, parts: [] } };
    row.version = version;
    row.deleted = true;
  }
  if (thread.headId === undefined || findMessage(thread, thread.headId)) return;
  // The head was below the root, so what is left of its branch ends with the root's parent.
  if (root.message.parentId === undefined) delete thread.headId;
  else thread.headId = root.message.parentId;
}

/** The message of the run is gone: its owner finds the run ended, and nothing of it can be read. */
function deleteRunOf(tables: Tables, run: RunRow): void {
  for (const decision of run.decisions.values()) if (isOpen(decision)) settle(tables, decision, 'cancelled');
  if (run.endedAt === undefined) {
    tables.hints.publish({ type: 'stop', run: run.key });
    endRun(tables, run, { outcome: 'aborted', by: 'user', reason: 'deleted' });
  }
  dropLog(tables, run);
}

export function deleteThreadRow(tables: Tables, thread: ThreadRow): void {
  for (const run of thread.runs.values()) {
    deleteRunOf(tables, run);
    tables.runs.delete(run.key);
  }
  thread.deleted = true;
  for (const row of thread.messages.values()) row.deleted = true;
  tables.threads.get(thread.scope)?.delete(thread.id);
  tables.hints.publish({ type: 'thread', scope: thread.scope, threadId: thread.id });
}
