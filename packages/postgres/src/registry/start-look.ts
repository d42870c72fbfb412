import type { Scope, StartRequest } from '@intertie/core/store';
import { isStoreText } from '@intertie/core/store';

import { lockThread } from '../conversations/thread-row.ts';
import type { Sql } from '../database.ts';
import { nextQueued } from './next-queued.ts';

/** What a start has to know of its thread, which is locked from then on. */
export type Look = {
  threadUuid: string;
  isNewThread: boolean;
  /** The message that the run follows. */
  parentId: string | undefined;
  hasParent: boolean;
  /** The earlier use of its idempotency key, by a run or (null) by a keyed save. */
  earlier: { hash: string; run: string | null } | undefined;
  /** The run of the thread that has the same id. */
  namesake: string | undefined;
  /** The live run of the thread, or the next in line. */
  blocker: string | undefined;
  isBlockerDead: boolean;
  queued: number;
  isAnswerIdTaken: boolean;
  isUserIdTaken: boolean;
  /** The time of the database, in milliseconds. */
  now: number;
};

type Seen = {
  earlier_hash: string | null;
  earlier_run: string | null;
  namesake: string | null;
  queued: number;
  has_parent: boolean;
  answer_taken: boolean;
  user_taken: boolean;
  now: number;
};

/** Locks the thread, which is made if there is none, and looks. */
export async function lookAtThread(sql: Sql, scope: Scope, request: StartRequest & { uuid: string }): Promise<Look> {
  const { threadId, message, idempotency } = request;
  const resourceId = request.resourceId ?? message?.resourceId;
  const { uuid, head_id: headId } = await lockThread(sql, {
    uuid: request.uuid,
    scope,
    key: threadId,
    ...(resourceId !== undefined && { resourceId }),
    ...request.thread,
  });
  const given = request.parentId === undefined ? message?.parentId : request.parentId;
  const parentId = (given === undefined ? headId : given) ?? undefined;
  // What cannot be an id of a message is none.
  const askedParent = parentId !== undefined && isStoreText(parentId) ? parentId : null;

  const [live] = await sql.query<{ run_key: string; dead: boolean }>(
    `select l.run_id::text as run_key, not exists (
          select 1 from intertie.processes p where p.id = l.process and p.lease_until >= now()) as dead
      from intertie.run_live l where l.thread_id = $1::text::uuid for no key update of l`,
    [uuid],
  );
  const [seen] = await sql.query<Seen>(
    `select q.hash as earlier_hash, q.run_id::text as earlier_run,
        (select r.id::text from intertie.runs r where r.thread_id = $1::text::uuid and r.client_run_id = $4) as namesake,
        (select count(*)::int from intertie.runs r where r.thread_id = $1::text::uuid and r.state = 'queued') as queued,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $5 and m.deleted_at is null) as has_parent,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $6) as answer_taken,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $7) as user_taken,
        (extract(epoch from now()) * 1000)::float8 as now
      from (select 1) one
        left join intertie.requests q on q.scope = $2 and q.key = $3 and q.created_at > now() - interval '1 day'`,
    [uuid, scope, idempotency?.key ?? null, request.runId, askedParent, request.messageId, message?.id ?? null],
  );
  const look = seen!;
  const blocker = live?.run_key ?? (look.queued > 0 ? await nextQueued(sql, uuid) : undefined);
  return {
    threadUuid: uuid,
    isNewThread: uuid === request.uuid,
    parentId,
    hasParent: look.has_parent,
    earlier: look.earlier_hash === null ? undefined : { hash: look.earlier_hash, run: look.earlier_run },
    namesake: look.namesake ?? undefined,
    blocker,
    isBlockerDead: live?.dead ?? false,
    queued: look.queued,
    isAnswerIdTaken: look.answer_taken,
    isUserIdTaken: look.user_taken,
    now: look.now,
  };
}
