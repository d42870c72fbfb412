import type { DeletedThreads, RunKey, Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { transact, type PublishOnCommit } from '../transact.ts';
import type { Context } from './context.ts';

/** Deletes a thread with everything it owns. Its id can be reused immediately. */
export async function deleteThread({ database, hints }: Context, scope: Scope, threadId: string): Promise<void> {
  await transact(database, hints, (sql, publish) =>
    deleteThreads(sql, publish, 'where t.scope = $1 and t.key = $2 for update', [scope, threadId]),
  );
}

/**
 * Deletes hidden threads that no run uses. A start locks the thread and changes `updated_at`, which Postgres checks again in the
 * locked row, so a thread whose next run starts meanwhile is not deleted.
 */
export function deleteHiddenThreads(
  { database, hints }: Pick<Context, 'database' | 'hints'>,
  minAgeMs: number,
  limit = 50,
): Promise<DeletedThreads> {
  const clauses = `where t.hidden and t.updated_at < now() - $1::float8 * interval '1 millisecond'
    and not exists (select 1 from intertie.runs r where r.thread_id = t.id and r.state in ('queued', 'running'))
    order by t.updated_at limit $2::int4 for update of t skip locked`;
  return transact(database, hints, (sql, publish) => deleteThreads(sql, publish, clauses, [minAgeMs, limit]));
}

const batch = 100;

/** Deletes everything that the scope owns, in batches of threads to keep transactions short. */
export async function purgeScope({ database, hints }: Context, scope: Scope): Promise<void> {
  const purge = (): Promise<DeletedThreads> =>
    transact(database, hints, (sql, publish) =>
      deleteThreads(
        sql,
        publish,
        'where t.id in (select id from intertie.threads where scope = $1 limit $2::int4) order by t.id for update',
        [scope, batch],
      ),
    );
  while ((await purge()).count > 0);
  await database.query('delete from intertie.requests where scope = $1', [scope]);
  await database.query('delete from intertie.blobs where scope = $1', [scope]);
}

/** Deletes the threads `t` that the clauses select and lock. Messages, events and requests of saves have no foreign key, so they are deleted first. */
async function deleteThreads(
  sql: Sql,
  publish: PublishOnCommit,
  clauses: string,
  values: readonly SqlValue[],
): Promise<DeletedThreads> {
  const threads = await sql.query<{ uuid: string; scope: Scope; key: string }>(
    `select t.id::text as uuid, t.scope, t.key from intertie.threads t ${clauses}`,
    values,
  );
  if (threads.length === 0) return { count: 0, runs: [] };
  const uuids = threads.map(({ uuid }) => uuid);
  const live = await sql.query<{ key: string }>(
    'delete from intertie.run_live where thread_id = any ($1::text[]::uuid[]) returning run_id::text as key',
    [uuids],
  );
  const runs = await sql.query<{ key: string }>(
    'select id::text as key from intertie.runs where thread_id = any ($1::text[]::uuid[])',
    [uuids],
  );
  const keys = runs.map(({ key }) => key as RunKey);
  await sql.query('delete from intertie.run_events where run_id = any ($1::text[]::uuid[])', [keys]);
  await sql.query('delete from intertie.requests where run_id is null and thread_ids && $1::text[]::uuid[]', [uuids]);
  await sql.query('delete from intertie.conversation_message where thread_id = any ($1::text[]::uuid[])', [uuids]);
  await sql.query('delete from intertie.threads where id = any ($1::text[]::uuid[])', [uuids]);
  for (const { key } of live) publish({ type: 'stop', run: key as RunKey });
  for (const { scope, key } of threads) publish({ type: 'thread', scope, threadId: key });
  return { count: threads.length, runs: keys };
}
