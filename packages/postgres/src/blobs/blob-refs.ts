import type { CanonicalMessage } from '@intertie/core';
import type { Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { findBlobHashes } from './move-files.ts';

/** Message ids and blob hashes of all references, as two arrays of the same length. */
export function toRefArrays(
  messages: ReadonlyArray<Pick<CanonicalMessage, 'id' | 'content'>>,
): [ids: string[], hashes: string[]] {
  const [ids, hashes]: [string[], string[]] = [[], []];
  for (const { id, content } of messages) {
    for (const sha256 of findBlobHashes(content.parts)) {
      ids.push(id);
      hashes.push(sha256);
    }
  }
  return [ids, hashes];
}

/**
 * CTEs that touch the blobs and then insert references to those that exist. Touching locks the rows, so a concurrent
 * `collect` that has already selected one waits, checks its age again and keeps it. `thread` names a CTE with a column `id`.
 */
export function referenceCtes(parts: { thread: string; scope: string; ids: string; hashes: string }): string {
  const { thread, scope, ids, hashes } = parts;
  return `touched as (
      update intertie.blobs b set touched_at = now()
      where b.scope = ${scope} and b.sha256 in (select decode(h, 'hex') from unnest(${hashes}::text[]) h)
      returning b.sha256),
    referred as (
      insert into intertie.blob_refs (thread_id, message_id, scope, sha256)
      select ${thread}.id, v.id, ${scope}, touched.sha256
      from ${thread} cross join unnest(${ids}::text[], ${hashes}::text[]) v(id, hash)
        join touched on touched.sha256 = decode(v.hash, 'hex')
      on conflict do nothing)`;
}

/** Inserts references from messages to their blobs. The thread is locked. */
export async function referenceBlobs(
  sql: Sql,
  scope: Scope,
  threadUuid: string,
  messages: ReadonlyArray<Pick<CanonicalMessage, 'id' | 'content'>>,
): Promise<void> {
  const [ids, hashes] = toRefArrays(messages);
  if (ids.length === 0) return;
  const refer = referenceCtes({ thread: 'thread', scope: '$2', ids: '$3', hashes: '$4' });
  const values: SqlValue[] = [threadUuid, scope, ids, hashes];
  await sql.query(`with thread as (select $1::text::uuid as id), ${refer} select 1 as done`, values);
}
