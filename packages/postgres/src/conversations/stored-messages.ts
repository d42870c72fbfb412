import type { Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import type { StoredMessage } from './message-draft.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

/** What a call has to know of a thread, at one version of it. Version 0: there is no such thread. */
export type Stored = { version: number; headId?: string; messages: Map<string, StoredMessage> };

interface Row extends MessageRow {
  thread_version: number;
  thread_head: string | null;
  is_deleted: boolean;
  busy_run_id: string | null;
}

/** The thread and those of the messages that are there, in one statement, so that the version is theirs. */
export async function readStored(sql: Sql, scope: Scope, threadId: string, ids: readonly string[]): Promise<Stored> {
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

/** A thread without any of the messages is one row of nothing else. */
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
