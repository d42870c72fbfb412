import type { CanonicalMessage } from '@intertie/core';
import type { Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { blobsOf } from './move-files.ts';

/** Which message names which blob, as two arrays of the same length. */
export function refArrays(
  messages: ReadonlyArray<Pick<CanonicalMessage, 'id' | 'content'>>,
): [ids: string[], hashes: string[]] {
  const [ids, hashes]: [string[], string[]] = [[], []];
  for (const { id, content } of messages) {
    for (const sha256 of blobsOf(content.parts)) {
      ids.push(id);
      hashes.push(sha256);
    }
  }
  return [ids, hashes];
}

/**
 * Two parts of a `with`: touching the blobs locks them, so that a collector that has already chosen one waits, looks
 * again and leaves it; then messages refer to those that are there. `thread` gives the column `id`.
 */
export function referWith(parts: { thread: string; scope: string; ids: string; hashes: string }): string {
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

/** Notes which blobs messages of a locked thread name. */
export async function referBlobs(
  sql: Sql,
  scope: Scope,
  threadUuid: string,
  messages: ReadonlyArray<Pick<CanonicalMessage, 'id' | 'content'>>,
): Promise<void> {
  const [ids, hashes] = refArrays(messages);
  if (ids.length === 0) return;
  const refer = referWith({ thread: 'thread', scope: '$2', ids: '$3', hashes: '$4' });
  const values: SqlValue[] = [threadUuid, scope, ids, hashes];
  await sql.query(`with thread as (select $1::text::uuid as id), ${refer} select 1 as done`, values);
}
