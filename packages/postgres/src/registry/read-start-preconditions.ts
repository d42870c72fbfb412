import type { Scope, StartRequest } from '@intertie/core/store';
import { isStoreText } from '@intertie/core/store';

import { lockThread } from '../conversations/thread-row.ts';
import type { Sql } from '../database.ts';
import { findNextQueued } from './find-next-queued.ts';

/** State of the locked thread that decides whether a run may start. */
export type StartPreconditions = {
  threadUuid: string;
  isNewThread: boolean;
  /** Parent of the new message. */
  parentId: string | undefined;
  hasParent: boolean;
  /** Earlier use of the idempotency key by a run, or by a save (`run` is null). */
  earlier: { hash: string; run: string | null } | undefined;
  /** Run of the thread with the same client run id. */
  sameIdRun: string | undefined;
  /** Live run of the thread, or the next queued one. */
  blocker: string | undefined;
  isBlockerDead: boolean;
  queued: number;
  isAnswerIdTaken: boolean;
  isUserIdTaken: boolean;
  /** Current time of the database in milliseconds. */
  now: number;
};

type Row = {
  earlier_hash: string | null;
  earlier_run: string | null;
  same_id_run: string | null;
  queued: number;
  has_parent: boolean;
  answer_taken: boolean;
  user_taken: boolean;
  has_lease: boolean;
  now: number;
};

/** Creates or locks the thread and reads the preconditions of a start. */
export async function readStartPreconditions(
  sql: Sql,
  scope: Scope,
  request: StartRequest & { uuid: string },
): Promise<StartPreconditions> {
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
  // Postgres rejects parameters that cannot be stored as text.
  const parentParameter = parentId !== undefined && isStoreText(parentId) ? parentId : null;

  const [live] = await sql.query<{ run_key: string; process: string }>(
    `select run_id::text as run_key, process from intertie.run_live where thread_id = $1::text::uuid for no key update`,
    [uuid],
  );
  const [found] = await sql.query<Row>(
    `select q.hash as earlier_hash, q.run_id::text as earlier_run,
        (select r.id::text from intertie.runs r where r.thread_id = $1::text::uuid and r.client_run_id = $4) as same_id_run,
        (select count(*)::int from intertie.runs r where r.thread_id = $1::text::uuid and r.state = 'queued') as queued,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $5 and m.deleted_at is null) as has_parent,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $6) as answer_taken,
        exists (select 1 from intertie.conversation_message m
          where m.thread_id = $1::text::uuid and m.id = $7) as user_taken,
        exists (select 1 from intertie.processes p where p.id = $8 and p.lease_until >= now()) as has_lease,
        (extract(epoch from now()) * 1000)::float8 as now
      from (select 1) one
        left join intertie.requests q on q.scope = $2 and q.key = $3 and q.created_at > now() - interval '1 day'`,
    [
      uuid,
      scope,
      idempotency?.key ?? null,
      request.runId,
      parentParameter,
      request.messageId,
      message?.id ?? null,
      live?.process ?? null,
    ],
  );
  const row = found!;
  const blocker = live?.run_key ?? (row.queued > 0 ? await findNextQueued(sql, uuid) : undefined);
  return {
    threadUuid: uuid,
    isNewThread: uuid === request.uuid,
    parentId,
    hasParent: row.has_parent,
    earlier: row.earlier_hash === null ? undefined : { hash: row.earlier_hash, run: row.earlier_run },
    sameIdRun: row.same_id_run ?? undefined,
    blocker,
    isBlockerDead: live !== undefined && !row.has_lease,
    queued: row.queued,
    isAnswerIdTaken: row.answer_taken,
    isUserIdTaken: row.user_taken,
    now: row.now,
  };
}
