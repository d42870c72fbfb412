import type { Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import type { StoredMessage } from './plan-messages.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

/** Version and head of a thread with some of its messages. Version 0: the thread does not exist. */
export type StoredThread = { version: number; headId?: string; messages: Map<string, StoredMessage> };

interface Row extends MessageRow {
  thread_version: number;
  thread_head: string | null;
  is_deleted: boolean;
  busy_run_id: string | null;
}

/** Reads the thread and the existing ones of these messages in one statement, that is, at one version. */
export async function readStoredMessages(
  sql: Sql,
  scope: Scope,
  threadId: string,
  ids: readonly string[],
): Promise<StoredThread> {
  const rows = await sql.query<Row>(
    `select t.version::float8 as thread_version, t.head_id as thread_head, m.deleted_at is not null as is_deleted,
       r.client_run_id as busy_run_id, ${messageColumns}
     from intertie.threads t
       left join lateral (
         select m.* from unnest($3::text[]) asked(id) cross join lateral (
           select * from intertie.conversation_message m where m.thread_id = t.id and m.id = asked.id limit 1) m
       ) m on true
       left join intertie.runs r on r.id = m.run_id and r.state in ('queued', 'running')
     where t.scope = $1 and t.key = $2`,
    [scope, threadId, ids],
  );
  const [first] = rows;
  return {
    version: first?.thread_version ?? 0,
    ...(first && first.thread_head !== null && { headId: first.thread_head }),
    messages: new Map(rows.filter(isMessage).map((row) => [row.id, toStored(row, threadId)])),
  };
}

/** A thread without any of the messages gives one row with a null id. */
function isMessage(row: Omit<Row, 'id'> & { id: string | null }): row is Row {
  return row.id !== null;
}

function toStored(row: Row, threadId: string): StoredMessage {
  return {
    message: toMessage(row, threadId),
    isDeleted: row.is_deleted,
    ...(row.busy_run_id !== null && { busyRunId: row.busy_run_id }),
  };
}
