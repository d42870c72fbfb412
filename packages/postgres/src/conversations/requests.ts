import type { Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';

/** Use of an idempotency key by a run (with its uuid) or by a save. */
export type Request = { key: string; hash: string; run?: string };

const isCurrent = `created_at > now() - interval '24 hours'`;

/** Finds the use of a key within the last 24 hours. Deletes an older one, so that the key can be used again. */
export async function findRequest(sql: Sql, scope: Scope, key: string): Promise<Request | undefined> {
  const rows = await sql.query<{ hash: string; run: string | null; is_current: boolean }>(
    `select hash, run_id::text as run, ${isCurrent} as is_current from intertie.requests
     where scope = $1 and key = $2`,
    [scope, key],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (row.is_current) return { key, hash: row.hash, ...(row.run !== null && { run: row.run }) };
  await sql.query(`delete from intertie.requests where scope = $1 and key = $2 and not ${isCurrent}`, [scope, key]);
  return undefined;
}

/**
 * Records the operation key of a save until one of its threads is deleted. Returns false if one was deleted already. Throws a
 * unique violation if another call has used the key.
 */
export async function insertSaveRequest(
  sql: Sql,
  scope: Scope,
  { key, hash }: Request,
  threadIds: readonly string[],
): Promise<boolean> {
  const [inserted] = await sql.query(
    `with written as materialized (
       select id from intertie.threads where scope = $1 and key = any ($4::text[]) for key share)
     insert into intertie.requests (scope, key, hash, thread_ids)
     select $1, $2, $3, coalesce(array_agg(id), '{}') from written having count(*) = cardinality($4::text[])
     returning 1 as inserted`,
    [scope, key, hash, threadIds],
  );
  return inserted !== undefined;
}

/** Deletes keys that are older than 24 hours and returns their number. */
export async function deleteExpiredRequests(sql: Sql, limit = 1000): Promise<number> {
  const rows = await sql.query(
    `delete from intertie.requests where (scope, key) in
       (select scope, key from intertie.requests where not ${isCurrent} limit $1::int4) returning 1 as deleted`,
    [limit],
  );
  return rows.length;
}
