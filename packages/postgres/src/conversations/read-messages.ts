import type { CanonicalMessage } from '@intertie/core';
import type { MessageChange, Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { startsLine, selectChildren } from './select-children.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

type Place = { threadId: string; messageId: string };

export async function readMessage(
  sql: Sql,
  scope: Scope,
  { threadId, messageId }: Place,
): Promise<CanonicalMessage | null> {
  const rows = await sql.query<MessageRow>(
    `select ${messageColumns} from intertie.threads t join intertie.conversation_message m on m.thread_id = t.id
     where t.scope = $1 and t.key = $2 and m.id = $3 and m.deleted_at is null`,
    [scope, threadId, messageId],
  );
  return rows[0] ? toMessage(rows[0], threadId) : null;
}

export async function readSiblings(
  sql: Sql,
  scope: Scope,
  { threadId, messageId }: Place,
): Promise<CanonicalMessage[]> {
  // Root messages are selected separately: an index cannot serve "equal, or both null".
  const rows = await sql.query<MessageRow>(
    `with one as materialized (
       select m.thread_id, m.parent_id from intertie.threads t
         join intertie.conversation_message m on m.thread_id = t.id
       where t.scope = $1 and t.key = $2 and m.id = $3 and m.deleted_at is null),
     parent as materialized (
       select p.thread_id, p.id, p.seq from one
         join intertie.conversation_message p on p.thread_id = one.thread_id and p.id = one.parent_id),
     siblings as (
       select m.* from parent cross join lateral (${selectChildren('parent', 'm.*')}) m
       union all
       select m.* from one join intertie.conversation_message m
         on one.parent_id is null and m.thread_id = one.thread_id and m.parent_id is null and ${startsLine('m')})
     select ${messageColumns} from siblings m where m.deleted_at is null order by m.seq`,
    [scope, threadId, messageId],
  );
  return rows.map((row) => toMessage(row, threadId));
}

interface ChangeRow extends MessageRow {
  version: number;
  is_deleted: boolean;
}

export async function readChanges(
  sql: Sql,
  scope: Scope,
  query: { threadId: string; since: number; limit?: number },
): Promise<MessageChange[]> {
  const { threadId, since, limit } = query;
  const rows = await sql.query<ChangeRow>(
    `select m.version::float8 as version, m.deleted_at is not null as is_deleted, ${messageColumns} from (
       select m.* from intertie.threads t join intertie.conversation_message m on m.thread_id = t.id
       where t.scope = $1 and t.key = $2 and m.version > $3::float8
       order by m.version ${limit === undefined ? '' : 'fetch first ($4::int4) rows with ties'}) m
     order by m.version, m.seq`,
    [scope, threadId, since, ...(limit === undefined ? [] : [limit])],
  );
  return rows.map((row) =>
    row.is_deleted
      ? { version: row.version, type: 'tombstone', messageId: row.id }
      : { version: row.version, type: 'message', message: toMessage(row, threadId) },
  );
}
