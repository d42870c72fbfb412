/* oxlint-disable no-await-in-loop -- one thread is locked after the other */
import type { RunKey } from '@intertie/core/store';

import { forgetRequests } from '../conversations/requests.ts';
import { transact } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { decisionsOfRun, settleDecisions } from './decision-row.ts';
import type { RegistryContext } from './registry-context.ts';
import { lockThreadOf, nextVersion } from './thread-lock.ts';

const maxExpired = 1_000;

/** Expires what is overdue, run by run: each needs the lock of its thread. Old idempotency keys and processes that are long gone are forgotten. */
export async function expireDecisions(context: RegistryContext, limit: number = maxExpired): Promise<number> {
  const runs = await context.database.query<{ run_key: string }>(
    `select distinct run_id::text as run_key from (
        select run_id from intertie.decisions where state = 'open' and expires_at <= now()
        order by expires_at limit $1) overdue`,
    [limit],
  );
  await forgetRequests(context.database);
  await context.database.query(`delete from intertie.processes where lease_until < now() - interval '1 day'`);
  let expired = 0;
  for (const { run_key: key } of runs) expired += await expireDecisionsOf(context, key as RunKey);
  return expired;
}

async function expireDecisionsOf({ database, hints }: RegistryContext, key: RunKey): Promise<number> {
  return transact(database, hints, async (sql, tell) => {
    const run = await lockThreadOf(sql, key);
    const overdue = run ? (await decisionsOfRun(sql, key)).filter(({ isOverdue }) => isOverdue) : [];
    if (!run || overdue.length === 0) return 0;
    if (run.isLive) {
      const ids = overdue.map(({ request: { id } }) => id);
      await settleDecisions(sql, key, ids, 'expired');
      tell({ type: 'answer', run: key });
    } else {
      await abandonRun(sql, run, 'expired', await nextVersion(sql, tell, run));
    }
    return overdue.length;
  });
}
