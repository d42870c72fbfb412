import type { Hint } from '@intertie/core/store';

import type { Sql, SqlPool } from './database.ts';
import { toPayload, type PostgresHints } from './hints.ts';

/** Notes a hint that is given with the commit. */
export type Tell = (hint: Hint) => void;

/** A transaction whose hints arrive if, and only if, it is committed. */
export async function transact<Result>(
  pool: SqlPool,
  hints: PostgresHints,
  work: (sql: Sql, tell: Tell) => Promise<Result>,
): Promise<Result> {
  const told = new Map<string, Hint>();
  const result = await pool.transaction(async (sql) => {
    told.clear();
    const value = await work(sql, (hint) => void told.set(toPayload(hint), hint));
    if (told.size > 0) {
      await sql.query('select pg_notify($1, payload)::text from unnest($2::text[]) payload', [
        hints.channel,
        [...told.keys()],
      ]);
    }
    return value;
  });
  hints.committed([...told.values()]);
  return result;
}
