import type { JsonObject, Thread } from '@intertie/core';
import type { Scope, ThreadInput } from '@intertie/core/store';

import type { Sql, SqlRow } from '../database.ts';

export interface ThreadRow extends SqlRow {
  uuid: string;
  key: string;
  resource_id: string | null;
  title: string | null;
  metadata: string | null;
  head_id: string | null;
  hidden: boolean;
  next_seq: number;
  version: number;
  created_at: number;
  updated_at: number;
}

/** Columns for `select ${threadColumns} from intertie.threads t`. */
export const threadColumns: string = `t.id::text as uuid, t.key, t.resource_id, t.title, t.metadata::text as metadata,
  t.head_id, t.hidden, t.next_seq::float8 as next_seq, t.version::float8 as version,
  (extract(epoch from t.created_at) * 1000)::float8 as created_at,
  (extract(epoch from t.updated_at) * 1000)::float8 as updated_at`;

/** Finds a thread. Its row is the lock for everything in the thread: lock it before writing in more than one statement. */
export async function findThread(
  sql: Sql,
  scope: Scope,
  key: string,
  options: { lock?: true } = {},
): Promise<ThreadRow | undefined> {
  const rows = await sql.query<ThreadRow>(
    `select ${threadColumns} from intertie.threads t where t.scope = $1 and t.key = $2
      ${options.lock ? 'for no key update' : ''}`,
    [scope, key],
  );
  return rows[0];
}

/** Creates the thread, or locks the existing one. */
export async function lockThread(
  sql: Sql,
  thread: { uuid: string; scope: Scope; key: string } & Pick<
    ThreadInput,
    'resourceId' | 'title' | 'metadata' | 'hidden'
  >,
): Promise<ThreadRow> {
  const rows = await sql.query<ThreadRow>(
    `insert into intertie.threads as t (id, scope, key, resource_id, title, metadata, hidden)
     values ($1::text::uuid, $2, $3, $4, $5, $6::text::json, $7)
     on conflict (scope, key) do update set key = excluded.key returning ${threadColumns}`,
    [
      thread.uuid,
      thread.scope,
      thread.key,
      thread.resourceId ?? null,
      thread.title ?? null,
      thread.metadata ? JSON.stringify(thread.metadata) : null,
      thread.hidden ?? false,
    ],
  );
  return rows[0]!;
}

/** Increments the version of a locked thread and reserves numbers for new messages. The first one is `base + 1`. */
export async function nextVersion(
  sql: Sql,
  uuid: string,
  change: { messages?: number; headId?: string } = {},
): Promise<{ version: number; base: number }> {
  const { messages = 0, headId = null } = change;
  const rows = await sql.query<{ version: number; base: number }>(
    `update intertie.threads set version = version + 1, next_seq = next_seq + $2::int4, updated_at = now(),
       head_id = coalesce($3, head_id)
     where id = $1::text::uuid returning version::float8 as version, (next_seq - $2::int4)::float8 as base`,
    [uuid, messages, headId],
  );
  return rows[0]!;
}

export function toThread(row: ThreadRow): Thread {
  return {
    id: row.key,
    ...(row.resource_id !== null && { resourceId: row.resource_id }),
    ...(row.title !== null && { title: row.title }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as JsonObject }),
    ...(row.head_id !== null && { headId: row.head_id }),
    ...(row.hidden && { hidden: true }),
    version: row.version,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  };
}
