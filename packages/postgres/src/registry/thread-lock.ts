import type { RunKey, Scope } from '@intertie/core/store';

import { nextVersion as openVersion } from '../conversations/thread-row.ts';
import type { Sql } from '../database.ts';
import type { Tell } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { selectRun, type RunRow } from './run-record.ts';

/**
 * Locks the thread of a run, and reads the run after that: what the locking statement itself saw may be older than what
 * it waited for.
 */
export async function lockThreadOf(sql: Sql, key: RunKey, scope?: Scope): Promise<RunRow | undefined> {
  if (!isUuid(key)) return undefined;
  const [locked] = await sql.query(
    `select 1 as found from intertie.runs r join intertie.threads t on t.id = r.thread_id
      where r.id = $1::text::uuid and ($2::text is null or t.scope = $2) for no key update of t`,
    [key, scope ?? null],
  );
  return locked && selectRun(sql, key);
}

/** Opens the next version of the locked thread. All that one transaction changes has the same version. */
export async function nextVersion(sql: Sql, tell: Tell, { threadUuid, record }: RunRow): Promise<number> {
  tell({ type: 'thread', scope: record.scope, threadId: record.threadId });
  return (await openVersion(sql, threadUuid)).version;
}
