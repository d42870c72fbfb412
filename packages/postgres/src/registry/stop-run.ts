import type { RunKey, Scope, StopResult } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact, type Tell } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { abandonRun } from './abandon-run.ts';
import { cleanText } from './clean-text.ts';
import { continuationOf } from './continue-run.ts';
import { awaitedOf, decisionsOfRun } from './decision-row.ts';
import { endRun } from './end-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { changeMessage, isKept } from './run-message.ts';
import type { RunRow } from './run-record.ts';
import { lockThreadOf, nextVersion } from './thread-lock.ts';

/** A live run's row is all that a stop needs; its thread is locked by those alone who change more. */
export async function stopRun(
  context: RegistryContext,
  scope: Scope,
  key: RunKey,
  reason: string | undefined,
): Promise<StopResult | null> {
  if (!isUuid(key)) return null;
  const { database, hints } = context;
  const isLive = await transact(database, hints, (sql, tell) => requestStop(sql, tell, key, reason, scope));
  if (isLive) return 'requested';
  return transact(database, hints, async (sql, tell) => {
    const run = await lockThreadOf(sql, key, scope);
    if (!run) return null;
    if (run.isLive) {
      await requestStop(sql, tell, key, reason);
      return 'requested';
    }
    if (run.record.state === 'queued') {
      const outcome = { outcome: 'aborted', by: 'user', ...(reason !== undefined && { reason }) } as const;
      await endRun(sql, key, { outcome, epoch: 0, lastSeq: 0 });
      await changeMessage(sql, run, { status: 'aborted' }, await nextVersion(sql, tell, run));
      return 'aborted';
    }
    if (!(await isAwaiting(sql, run)) || (await continuationOf(sql, run))) return 'ended';
    await abandonRun(sql, run, reason ?? 'stopped', await nextVersion(sql, tell, run));
    return 'cancelled';
  });
}

/** Whether the run waits for decisions, answered or not, and its message is still there and not given up. */
async function isAwaiting(sql: Sql, run: RunRow): Promise<boolean> {
  const { key, outcome } = run.record;
  return awaitedOf(outcome, await decisionsOfRun(sql, key)).length > 0 && isKept(sql, run);
}

/** Whether the run is live. The first request counts: a second one does not give the owner more time. */
export async function requestStop(
  sql: Sql,
  tell: Tell,
  key: RunKey,
  reason: string | undefined,
  scope?: Scope,
): Promise<boolean> {
  const [requested] = await sql.query(
    `update intertie.run_live l
      set stop_requested_at = coalesce(l.stop_requested_at, now()),
        stop_reason = case when l.stop_requested_at is null then $2 else l.stop_reason end
      from intertie.threads t
      where l.run_id = $1::text::uuid and t.id = l.thread_id and ($3::text is null or t.scope = $3)
      returning 1 as requested`,
    [key, reason === undefined ? null : cleanText(reason), scope ?? null],
  );
  if (requested) tell({ type: 'stop', run: key });
  return requested !== undefined;
}
