import type { Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';

/** A use of an idempotency key: by a run, whose uuid it is then, or by a keyed save. */
export type Request = { key: string; hash: string; run?: string };

const isRemembered = `created_at > now() - interval '24 hours'`;

/** The earlier use of a key, if it was in the last 24 hours. An older one is forgotten, so that the key is free. */
export async function findRequest(sql: Sql, scope: Scope, key: string): Promise<Request | undefined> {
  const rows = await sql.query<{ hash: string; run: string | null; remembered: boolean }>(
    `select hash, run_id::text as run, ${isRemembered} as remembered from intertie.requests
     where scope = $1 and key = $2`,
    [scope, key],
  );
  const [row] = rows;
  if (!row) return undefined;
  if (row.remembered) return { key, hash: row.hash, ...(row.run !== null && { run: row.run }) };
  await sql.query(`delete from intertie.requests where scope = $1 and key = $2 and not ${isRemembered}`, [scope, key]);
  return undefined;
}

/**
 * Remembers a keyed save until one of these threads is deleted. False: one is, already. Fails with a unique violation
 * where somebody else was faster.
 */
export async function rememberSave(
  sql: Sql,
  scope: Scope,
  { key, hash }: Request,
  threadIds: readonly string[],
): Promise<boolean> {
  const [remembered] = await sql.query(
    `with written as materialized (
       select id from intertie.threads where scope = $1 and key = any ($4::text[]) for key share)
     insert into intertie.requests (scope, key, hash, thread_ids)
     select $1, $2, $3, coalesce(array_agg(id), '{}') from written having count(*) = cardinality($4::text[])
     returning 1 as remembered`,
    [scope, key, hash, threadIds],
  );
  return remembered !== undefined;
}

/** Forgets keys that are older than 24 hours. Returns how many. */
export async function forgetRequests(sql: Sql, limit = 1000): Promise<number> {
  const rows = await sql.query(
    `delete from intertie.requests where (scope, key) in
       (select scope, key from intertie.requests where not ${isRemembered} limit $1::int4) returning 1 as done`,
    [limit],
  );
  return rows.length;
}
