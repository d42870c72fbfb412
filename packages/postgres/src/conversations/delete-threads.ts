import type { RunKey, Scope } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact, type PublishOnCommit } from '../transact.ts';
import type { Context } from './context.ts';

/** Deletes a thread with everything it owns. Its id can be reused immediately. */
export async function deleteThread({ database, hints }: Context, scope: Scope, threadId: string): Promise<void> {
  await transact(database, hints, (sql, publish) => deleteThreads(sql, publish, scope, 't.key = $2', threadId));
}

const batch = 100;

/** Deletes everything that the scope owns, in batches of threads to keep transactions short. */
export async function purgeScope({ database, hints }: Context, scope: Scope): Promise<void> {
  const purge = (): Promise<number> =>
    transact(database, hints, (sql, publish) =>
      deleteThreads(
        sql,
        publish,
        scope,
        `t.id in (select id from intertie.threads where scope = $1 limit $2::int4)`,
        batch,
      ),
    );
  while ((await purge()) > 0);
  await database.query('delete from intertie.requests where scope = $1', [scope]);
  await database.query('delete from intertie.blobs where scope = $1', [scope]);
}

/** Returns the number of deleted threads. Messages, events and requests of saves have no foreign key, so they are deleted first. */
async function deleteThreads(
  sql: Sql,
  publish: PublishOnCommit,
  scope: Scope,
  condition: string,
  value: string | number,
): Promise<number> {
  const threads = await sql.query<{ uuid: string; key: string }>(
    `select t.id::text as uuid, t.key from intertie.threads t where t.scope = $1 and ${condition} order by t.id for update`,
    [scope, value],
  );
  if (threads.length === 0) return 0;
  const uuids = threads.map(({ uuid }) => uuid);
  const live = await sql.query<{ key: string }>(
    'delete from intertie.run_live where thread_id = any ($1::text[]::uuid[]) returning run_id::text as key',
    [uuids],
  );
  await sql.query(
    `delete from intertie.run_events where run_id in
       (select id from intertie.runs where thread_id = any ($1::text[]::uuid[]))`,
    [uuids],
  );
  await sql.query('delete from intertie.requests where run_id is null and thread_ids && $1::text[]::uuid[]', [uuids]);
  await sql.query('delete from intertie.conversation_message where thread_id = any ($1::text[]::uuid[])', [uuids]);
  await sql.query('delete from intertie.threads where id = any ($1::text[]::uuid[])', [uuids]);
  for (const { key } of live) publish({ type: 'stop', run: key as RunKey });
  for (const { key } of threads) publish({ type: 'thread', scope, threadId: key });
  return threads.length;
}
