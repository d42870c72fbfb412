import type { Ownership, Scope } from '@intertie/core/store';

import { transact } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { activateRun } from './insert-run.ts';
import { findNextQueued } from './find-next-queued.ts';
import { findPausedRun } from './find-paused-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { isClaimed, toOwnership, selectRun, selectRuns } from './run-record.ts';
import { nextVersion } from './lock-run-thread.ts';

/** Whether a run is queued, or live by the same claim. Checked first without a lock, because usually none is. */
const isAwaited = `select 1 as awaited from intertie.threads t
  where t.scope = $1 and t.key = $2
    and (exists (select from intertie.runs r where r.thread_id = t.id and r.state = 'queued' offset 0)
      or exists (select from intertie.run_live l where l.thread_id = t.id and l.claim = $3 offset 0))`;

/** Starts the next queued run of a thread without a live run. */
export async function promoteRun(
  { database, hints }: RegistryContext,
  scope: Scope,
  threadId: string,
  process: string,
  claim: string,
): Promise<Ownership | null> {
  const awaited = await database.query(isAwaited, [scope, threadId, claim], { prepare: true });
  if (awaited.length === 0) return null;
  return transact(database, hints, async (sql, publish) => {
    const [thread] = await sql.query<{ uuid: string }>(
      'select id::text as uuid from intertie.threads where scope = $1 and key = $2 for no key update',
      [scope, threadId],
    );
    if (!thread) return null;
    const [live] = await selectRuns(sql, 'l.thread_id = $1::text::uuid', [thread.uuid]);
    if (live) return isClaimed(live, process, claim) ? toOwnership(live) : null;
    const next = await findNextQueued(sql, thread.uuid);
    const run = next && (await selectRun(sql, next));
    if (!run) return null;
    const [message] = await sql.query<{ parent_id: string | null }>(
      'select parent_id from intertie.conversation_message where thread_id = $1::text::uuid and id = $2',
      [thread.uuid, run.record.messageId],
    );
    const version = await nextVersion(sql, publish, run);
    const paused = await findPausedRun(sql, thread.uuid, message?.parent_id ?? undefined);
    if (paused) await abandonRun(sql, paused.run, 'superseded', version);
    await activateRun(sql, run.record.key, process, claim);
    return toOwnership((await selectRun(sql, run.record.key))!);
  });
}
