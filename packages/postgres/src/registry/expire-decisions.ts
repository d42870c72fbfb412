import type { RunKey } from '@intertie/core/store';

import { deleteExpiredRequests } from '../conversations/requests.ts';
import { transact } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { selectRunDecisions, settleDecisions } from './decision-row.ts';
import type { RegistryContext } from './registry-context.ts';
import { lockRunThread, nextVersion } from './lock-run-thread.ts';

const maxExpired = 1_000;

/** Expires overdue decisions run by run, under the lock of each thread. Also deletes old idempotency keys and dead processes. */
export async function expireDecisions(context: RegistryContext, limit: number = maxExpired): Promise<number> {
  const runs = await context.database.query<{ run_key: string }>(
    `select distinct run_id::text as run_key from (
        select run_id from intertie.decisions where state = 'open' and expires_at <= now()
        order by expires_at limit $1) overdue`,
    [limit],
  );
  await deleteExpiredRequests(context.database);
  await context.database.query(`delete from intertie.processes where lease_until < now() - interval '1 day'`);
  let expired = 0;
  for (const { run_key: key } of runs) expired += await expireRunDecisions(context, key as RunKey);
  return expired;
}

async function expireRunDecisions({ database, hints }: RegistryContext, key: RunKey): Promise<number> {
  return transact(database, hints, async (sql, publish) => {
    const run = await lockRunThread(sql, key);
    const overdue = run ? (await selectRunDecisions(sql, key)).filter(({ isOverdue }) => isOverdue) : [];
    if (!run || overdue.length === 0) return 0;
    if (run.isLive) {
      const ids = overdue.map(({ request: { id } }) => id);
      await settleDecisions(sql, key, ids, 'expired');
      publish({ type: 'answer', run: key });
    } else {
      await abandonRun(sql, run, 'expired', await nextVersion(sql, publish, run));
    }
    return overdue.length;
  });
}
