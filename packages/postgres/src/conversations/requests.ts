import { createHash } from 'node:crypto';

import { checkStoreId, StoreError, type Scope } from '@intertie/core';

import type { Sql } from '../database.ts';

/** A use of an idempotency key: by a run, whose uuid it is then, or by a keyed save. */
export type Request = { key: string; hash: string; run?: string };

/** An idempotency key as it is kept: clients choose them, and some are too long or cannot be a text of a database. */
export function toRequestKey(key: string): string {
  try {
    checkStoreId('An idempotency key', key);
    return key;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Of the UTF-16 text: UTF-8 would make all lone surrogates the same.
    return `sha256:${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex')}`;
  }
}

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

/** Fails with a unique violation where somebody else was faster. */
export async function rememberRequest(sql: Sql, scope: Scope, request: Request): Promise<void> {
  await sql.query('insert into intertie.requests (scope, key, hash, run_id) values ($1, $2, $3, $4::text::uuid)', [
    scope,
    request.key,
    request.hash,
    request.run ?? null,
  ]);
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
