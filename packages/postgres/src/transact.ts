import type { Hint } from '@intertie/core/store';

import type { Sql, SqlPool } from './database.ts';
import { toPayload, type PostgresHints } from './hints.ts';

/** Publishes a hint when the transaction commits. */
export type PublishOnCommit = (hint: Hint) => void;

/** Runs a transaction whose hints are published only if it commits. */
export async function transact<Result>(
  pool: SqlPool,
  hints: PostgresHints,
  work: (sql: Sql, publish: PublishOnCommit) => Promise<Result>,
): Promise<Result> {
  const hintsByPayload = new Map<string, Hint>();
  const result = await pool.transaction(async (sql) => {
    hintsByPayload.clear();
    const value = await work(sql, (hint) => void hintsByPayload.set(toPayload(hint), hint));
    if (hintsByPayload.size > 0) {
      await sql.query('select pg_notify($1, payload)::text from unnest($2::text[]) payload', [
        hints.channel,
        [...hintsByPayload.keys()],
      ]);
    }
    return value;
  });
  hints.emitCommitted([...hintsByPayload.values()]);
  return result;
}
