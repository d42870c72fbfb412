import type { RunKey, Scope } from '@intertie/core/store';

import { nextVersion as openVersion } from '../conversations/thread-row.ts';
import type { Sql } from '../database.ts';
import type { PublishOnCommit } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { selectRun, type RunRow } from './run-record.ts';

/**
 * Locks the thread of a run, then reads the run in a second statement: the snapshot of the locking statement may be older than
 * the transaction it waited for.
 */
export async function lockRunThread(sql: Sql, key: RunKey, scope?: Scope): Promise<RunRow | undefined> {
  if (!isUuid(key)) return undefined;
  const [locked] = await sql.query(
    `select 1 as found from intertie.runs r join intertie.threads t on t.id = r.thread_id
      where r.id = $1::text::uuid and ($2::text is null or t.scope = $2) for no key update of t`,
    [key, scope ?? null],
  );
  return locked && selectRun(sql, key);
}

/** Increments the version of the locked thread. All changes of one transaction share one version. */
export async function nextVersion(sql: Sql, publish: PublishOnCommit, { threadUuid, record }: RunRow): Promise<number> {
  publish({ type: 'thread', scope: record.scope, threadId: record.threadId });
  return (await openVersion(sql, threadUuid)).version;
}
