import type { CanonicalMessage, RunRecord } from '@intertie/core';
import type { RunKey, Scope, Started, StartRequest } from '@intertie/core/store';
import { isStoreText } from '@intertie/core/store';

import { toRefArrays, referenceCtes } from '../blobs/blob-refs.ts';
import { messageByKey } from '../conversations/message-by-key.ts';
import { messageColumns, toMessage, type MessageRow } from '../conversations/message-row.ts';
import { selectBranchEnd, selectMessageLine } from '../conversations/read-branch.ts';
import { insertStatement, messageValues } from '../conversations/write-messages.ts';
import { sqlState, type SqlValue } from '../database.ts';
import { toPayload } from '../hints.ts';
import { createPlaceholder } from './create-placeholder.ts';
import type { RegistryContext } from './registry-context.ts';
import { toJsonText } from './run-message.ts';

/** A validated request with the key of the new run. */
export type PreparedStart = StartRequest & { key: string; user: CanonicalMessage | undefined };

type StartRow = { epoch: number; next_seq: number; now: number; is_new: boolean; first_parent: string | null };
/** One row per message of the history, in any order; one without a message if there is none. */
type Row = StartRow & ((MessageRow & { seq: number }) | { id: null; seq: null });

const uniqueViolation = '23505';

/**
 * Starts a run in one statement in the common case: a new user message at the head or at the root of a thread
 * that has no live run, no queued run and no open decision, or in a new thread. Returns undefined in any other case, with
 * nothing written. It also reads the history of the run. The reasons are in docs/decisions/start-fast-path.md; the store contract (`start.ts`, `ownership.ts`,
 * `repeated-calls.ts`) tests both paths.
 *
 * The statement sees all tables in the snapshot from its start, and only the locked thread row in its current state. It
 * therefore requires that both have the same thread version: every new run or message increments it.
 */
export async function startFastPath(
  { database, hints, generateId }: RegistryContext,
  scope: Scope,
  request: PreparedStart,
): Promise<Started | undefined> {
  const { user, threadId, messageId, idempotency } = request;
  const given = request.parentId === undefined ? user?.parentId : request.parentId;
  if (!user || user.threadId !== threadId || user.id === messageId) return undefined;
  if (typeof given === 'string' && !isStoreText(given)) return undefined;
  const resourceId = request.resourceId ?? user.resourceId ?? null;
  const hint = { type: 'thread', scope, threadId } as const;
  const values: SqlValue[] = [
    scope,
    threadId,
    generateId(),
    resourceId,
    given === undefined,
    given ?? null,
    user.id,
    messageId,
    request.key,
    request.runId,
    request.agent,
    toJsonText(request.input),
    request.createdBy ?? null,
    request.process,
    idempotency?.key ?? null,
    idempotency?.hash ?? null,
    hints.channel,
    toPayload(hint),
    request.thread?.title ?? null,
    toJsonText(request.thread?.metadata),
    request.branchKey ?? null,
    request.thread?.hidden ?? false,
    // Two of the messages are those that the start writes.
    Math.max((request.historyLimit ?? 0) - 2, 0),
    ...messageValues([user]),
  ];
  const [ids, hashes] = toRefArrays([user]);
  const isPlain = ids.length === 0;
  const at = values.length;
  if (!isPlain) values.push(ids, hashes);
  const refer = referenceCtes({ thread: 'thread', scope: '$1', ids: `$${at + 1}`, hashes: `$${at + 2}` });
  const text = isPlain ? statement('') : statement(`, ${refer}`);
  let rows: Row[];
  try {
    rows = await database.query<Row>(text, values, isPlain ? { prepare: true } : {});
  } catch (error) {
    // A concurrent call has used one of the ids.
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
  const [row] = rows;
  if (!row) return undefined;
  hints.emitCommitted([hint]);
  return {
    type: 'started',
    run: toRunRecord(scope, request, new Date(row.now)),
    epoch: row.epoch,
    nextSeq: row.next_seq,
    superseded: [],
    ...(row.is_new && { isNewThread: true }),
    ...((row.is_new || request.historyLimit !== undefined) && { messages: readMessages(rows, request, user) }),
  };
}

function readMessages(rows: readonly Row[], request: PreparedStart, user: CanonicalMessage): CanonicalMessage[] {
  const { now, first_parent: parentId } = rows[0]!;
  const before = rows.filter(hasMessage).toSorted((one, other) => one.seq - other.seq);
  const asked: CanonicalMessage = { status: 'complete', ...user, ...(parentId !== null && { parentId }) };
  return [...before.map((row) => toMessage(row, request.threadId)), asked, createPlaceholder(request, now, user.id)];
}

function hasMessage(row: Row): row is Extract<Row, MessageRow> {
  return row.id !== null;
}

function toRunRecord(scope: Scope, request: PreparedStart, at: Date): RunRecord {
  const { key, runId, threadId, messageId, agent, process, input, createdBy } = request;
  return {
    key: key as RunKey,
    scope,
    runId,
    threadId,
    messageId,
    agent,
    state: 'running',
    process,
    ...(input !== undefined && { input }),
    ...(createdBy !== undefined && { createdBy }),
    createdAt: at,
    startedAt: at,
  };
}

/** `exists` that uses an index: `offset 0` prevents the planner from scanning a small table instead. */
function has(where: string): string {
  return `exists (select from ${where} offset 0)`;
}

const isKeyUsed = has('intertie.requests q where q.scope = $1 and q.key = $15');

const parts = `with recursive seen as materialized (
    select t.id, t.version from intertie.threads t where t.scope = $1 and t.key = $2),
  locked as materialized (
    select t.id, t.head_id, t.next_seq, t.version from intertie.threads t where t.scope = $1 and t.key = $2
    for no key update),
  free as materialized (
    select locked.*, case when $5 then locked.head_id else $6 end as first_parent
    from locked join seen on seen.id = locked.id and seen.version = locked.version
    where ($5 or $6::text is null or $6 = locked.head_id) and not ${isKeyUsed}
      and not ${has('intertie.run_live l where l.thread_id = locked.id')}
      and not ${has(`intertie.runs r where r.thread_id = locked.id and r.state = 'queued'`)}
      and not ${has('intertie.runs r where r.thread_id = locked.id and r.client_run_id = $10')}
      and not ${has(`intertie.decisions d where d.thread_id = locked.id and d.state = 'open'`)}
      and not ${has(messageByKey('id', 'locked.id', '$7'))}
      and not ${has(messageByKey('id', 'locked.id', '$8'))}),
  created as (
    insert into intertie.threads (id, scope, key, resource_id, title, metadata, hidden, next_seq, version, head_id)
    select $3::text::uuid, $1, $2, $4, $19, $20::text::json, $22, 2, 1, $8
    where not exists (select from seen) and not exists (select from locked) and $6::text is null and not ${isKeyUsed}
    on conflict (scope, key) do nothing returning id),
  changed as (
    update intertie.threads t
    set next_seq = t.next_seq + 2, version = t.version + 1, head_id = $8, updated_at = now()
    from free where t.id = free.id),
  thread as materialized (
    select id, next_seq as base, version + 1 as version, first_parent from free
    union all select id, 0, 1, null from created),
  asked as (
    ${insertStatement(24, 'thread')} returning thread_id, id, seq, version, line),
  answer as (
    insert into intertie.conversation_message (thread_id, seq, version, line, id, parent_id, role, type, status,
      resource_id, client_run_id, content, created_at, run_id)
    select thread_id, seq + 1, version, line, $8, id, 'assistant', 'text', 'streaming',
      $4, $10, '{"format":2,"parts":[]}', now(), $9::text::uuid from asked),
  run as (
    insert into intertie.runs
      (id, thread_id, message_id, client_run_id, agent, input, created_by, branch_key, state, started_at)
    select $9::text::uuid, id, $8, $10, $11, $12::text::json, $13, $21, 'running', now() from thread),
  live as (
    insert into intertie.run_live (run_id, thread_id, process)
    select $9::text::uuid, id, $14 from thread returning epoch, next_seq),
  ${selectBranchEnd(selectMessageLine('free t', 't.first_parent'), '$23::int4')},
  recorded as (
    insert into intertie.requests (scope, key, hash, run_id)
    select $1, $15, $16, $9::text::uuid from thread where $15::text is not null),
  started as materialized (
    select epoch, next_seq::float8 as next_seq, (extract(epoch from now()) * 1000)::float8 as now,
      exists (select from created) as is_new, pg_notify($17, $18)::text as notified
    from live)`;

function statement(more: string): string {
  return `${parts}${more}
    select started.*, thread.first_parent, m.seq::float8 as seq, ${messageColumns}
    from started cross join thread left join page m on true`;
}
