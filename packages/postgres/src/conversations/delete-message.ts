import type { Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact } from '../transact.ts';
import { selectChildren } from './select-children.ts';
import type { Context } from './context.ts';
import { deleteRuns } from './delete-runs.ts';
import { findThread, nextVersion, type ThreadRow } from './thread-row.ts';

/** Deletes a message and its descendants, and leaves tombstones for `listChanges`. */
export async function deleteMessage(
  { database, hints }: Context,
  scope: Scope,
  { threadId, messageId }: { threadId: string; messageId: string },
): Promise<void> {
  await transact(database, hints, async (sql, publish) => {
    const thread = await findThread(sql, scope, threadId, { lock: true });
    const ids = thread ? await findSubtree(sql, thread.uuid, messageId) : [];
    if (!thread || ids.length === 0) return;
    const { version } = await nextVersion(sql, thread.uuid);
    publish({ type: 'thread', scope, threadId });
    await deleteRuns(sql, publish, { threadUuid: thread.uuid, messageIds: ids });
    await moveHead(sql, thread, messageId, ids);
    await writeTombstones(sql, thread.uuid, ids, version);
  });
}

/** Ids of the message and its descendants. Empty if the message does not exist or is already deleted. */
async function findSubtree(sql: Sql, threadUuid: string, rootId: string): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `with recursive subtree as (
       select m.thread_id, m.id, m.seq from intertie.conversation_message m
       where m.thread_id = $1::text::uuid and m.id = $2 and m.deleted_at is null
       union all
       select m.thread_id, m.id, m.seq from subtree cross join lateral (
         ${selectChildren('subtree', 'm.thread_id, m.id, m.seq, m.deleted_at')}) m
       where m.deleted_at is null)
     select id from subtree`,
    [threadUuid, rootId],
  );
  return rows.map(({ id }) => id);
}

/** Moves a deleted head to the parent of the deleted subtree. */
async function moveHead(sql: Sql, thread: ThreadRow, rootId: string, deleted: readonly string[]): Promise<void> {
  if (thread.head_id === null || !deleted.includes(thread.head_id)) return;
  await sql.query(
    `update intertie.threads t set head_id = m.parent_id from intertie.conversation_message m
     where t.id = $1::text::uuid and m.thread_id = t.id and m.id = $2`,
    [thread.uuid, rootId],
  );
}

async function writeTombstones(sql: Sql, threadUuid: string, ids: readonly string[], version: number): Promise<void> {
  await sql.query(
    `with unreferred as (
       delete from intertie.blob_refs where thread_id = $1::text::uuid and message_id = any ($2::text[]))
     update intertie.conversation_message
     set deleted_at = now(), updated_at = now(), version = $3::float8::bigint, revision = revision + 1,
       content = '{"format":2,"parts":[]}', state = null, source_state = null, extra = null
     where thread_id = $1::text::uuid and id = any ($2::text[])`,
    [threadUuid, ids, version],
  );
}
