import type { Ownership, Scope } from '@intertie/core';

import { transact } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { goLive, hasLiveRun } from './new-run.ts';
import { nextQueued } from './next-queued.ts';
import { pausedBefore } from './paused-before.ts';
import type { RegistryContext } from './registry-context.ts';
import { ownershipOf, selectRun } from './run-record.ts';
import { nextVersion } from './thread-lock.ts';

/** Whether anybody waits for the thread: after most runs nobody does, and this is the one statement that says so. */
const isAwaited = `select 1 as awaited from intertie.threads t
  where t.scope = $1 and t.key = $2
    and exists (select from intertie.runs r where r.thread_id = t.id and r.state = 'queued' offset 0)`;

/** Starts the next in line of a thread that has no live run. */
export async function promoteRun(
  { database, hints }: RegistryContext,
  scope: Scope,
  threadId: string,
  process: string,
): Promise<Ownership | null> {
  const awaited = await database.query(isAwaited, [scope, threadId], { keepPlan: true });
  if (awaited.length === 0) return null;
  return transact(database, hints, async (sql, tell) => {
    const [thread] = await sql.query<{ uuid: string }>(
      'select id::text as uuid from intertie.threads where scope = $1 and key = $2 for no key update',
      [scope, threadId],
    );
    if (!thread || (await hasLiveRun(sql, thread.uuid))) return null;
    const next = await nextQueued(sql, thread.uuid);
    const run = next && (await selectRun(sql, next));
    if (!run) return null;
    const [message] = await sql.query<{ parent_id: string | null }>(
      'select parent_id from intertie.conversation_message where thread_id = $1::text::uuid and id = $2',
      [thread.uuid, run.record.messageId],
    );
    const version = await nextVersion(sql, tell, run);
    const paused = await pausedBefore(sql, thread.uuid, message?.parent_id ?? undefined);
    if (paused) await abandonRun(sql, paused.run, 'superseded', version);
    await goLive(sql, run.record.key, process);
    return ownershipOf((await selectRun(sql, run.record.key))!);
  });
}
