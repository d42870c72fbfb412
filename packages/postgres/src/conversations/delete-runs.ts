import type { RunKey } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import type { PublishOnCommit } from '../transact.ts';

const outcome = JSON.stringify({ outcome: 'aborted', by: 'user', reason: 'deleted' });

/**
 * Ends the runs of deleted messages: cancels their open decisions, aborts runs that have not ended, and drops their logs. The
 * thread is locked.
 */
export async function deleteRuns(
  sql: Sql,
  publish: PublishOnCommit,
  { threadUuid, messageIds }: { threadUuid: string; messageIds: readonly string[] },
): Promise<void> {
  const rows = await sql.query<{ key: string; ended: boolean }>(
    `select id::text as key, ended_at is not null as ended from intertie.runs
     where thread_id = $1::text::uuid and message_id = any ($2::text[])`,
    [threadUuid, messageIds],
  );
  if (rows.length === 0) return;
  const keys = rows.map(({ key }) => key);
  const unended = rows.filter(({ ended }) => !ended).map(({ key }) => key);
  await sql.query(
    `update intertie.decisions set state = 'cancelled' where run_id = any ($1::text[]::uuid[]) and state = 'open'`,
    [keys],
  );
  // The owner's flush locks the same row, so no events are added after this delete.
  await sql.query(
    `with gone as (
       delete from intertie.run_live where run_id = any ($1::text[]::uuid[]) returning run_id, epoch, next_seq)
     update intertie.runs r set state = 'aborted', outcome = $2::text::json, ended_at = clock_timestamp(),
       last_epoch = coalesce((select epoch from gone where run_id = r.id), 0),
       last_seq = coalesce((select next_seq - 1 from gone where run_id = r.id), 0)
     where r.id = any ($1::text[]::uuid[])`,
    [unended, outcome],
  );
  await sql.query(
    `with dropped as (delete from intertie.run_events where run_id = any ($1::text[]::uuid[]))
     update intertie.runs set log_dropped_at = coalesce(log_dropped_at, now()) where id = any ($1::text[]::uuid[])`,
    [keys],
  );
  for (const key of unended) publish({ type: 'stop', run: key as RunKey });
}
