import type { RunKey, Scope, StopResult } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { transact, type PublishOnCommit } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { abandonRun } from './abandon-run.ts';
import { cleanText } from './clean-text.ts';
import { findContinuation } from './continue-run.ts';
import { filterAwaited, selectRunDecisions } from './decision-row.ts';
import { endRun } from './end-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { updateRunMessage, isMessageActive } from './run-message.ts';
import type { RunRow } from './run-record.ts';
import { lockRunThread, nextVersion } from './lock-run-thread.ts';

/** Stops a run. A live run needs only its own row; the thread is locked only for queued and paused runs. */
export async function stopRun(
  context: RegistryContext,
  scope: Scope,
  key: RunKey,
  reason: string | undefined,
): Promise<StopResult | null> {
  if (!isUuid(key)) return null;
  const { database, hints } = context;
  const isLive = await transact(database, hints, (sql, publish) => requestStop(sql, publish, key, reason, scope));
  if (isLive) return 'requested';
  return transact(database, hints, async (sql, publish) => {
    const run = await lockRunThread(sql, key, scope);
    if (!run) return null;
    if (run.isLive) {
      await requestStop(sql, publish, key, reason);
      return 'requested';
    }
    if (run.record.state === 'queued') {
      const outcome = { outcome: 'aborted', by: 'user', ...(reason !== undefined && { reason }) } as const;
      await endRun(sql, key, { outcome, epoch: 0, lastSeq: 0 });
      await updateRunMessage(sql, run, { status: 'aborted' }, await nextVersion(sql, publish, run));
      return 'aborted';
    }
    if (!(await isAwaiting(sql, run)) || (await findContinuation(sql, run))) return 'ended';
    await abandonRun(sql, run, reason ?? 'stopped', await nextVersion(sql, publish, run));
    return 'cancelled';
  });
}

/** Whether the run waits for decisions, answered or not, and its message is neither deleted nor aborted. */
async function isAwaiting(sql: Sql, run: RunRow): Promise<boolean> {
  const { key, outcome } = run.record;
  return filterAwaited(outcome, await selectRunDecisions(sql, key)).length > 0 && isMessageActive(sql, run);
}

/** Requests a stop and returns whether the run is live. A second request does not reset the time or the reason. */
export async function requestStop(
  sql: Sql,
  publish: PublishOnCommit,
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
  if (requested) publish({ type: 'stop', run: key });
  return requested !== undefined;
}
