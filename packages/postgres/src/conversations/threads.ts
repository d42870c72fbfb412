import { StoreError, type Thread } from '@intertie/core';
import {
  checkStoreId,
  type ListedThread,
  type ListThreads,
  type Scope,
  type ThreadInput,
  type ThreadPage,
  checkStoreText,
  isStoreText,
  readJson,
} from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { transact } from '../transact.ts';
import { checkLimit } from './check-limit.ts';
import type { Context } from './context.ts';
import { fromMilliseconds, toMilliseconds } from './milliseconds.ts';
import { findThread, threadColumns, toThread, type ThreadRow } from './thread-row.ts';

/** Saves in one statement, unless a head is given, which is checked under the lock first. */
export async function saveThread(context: Context, scope: Scope, input: ThreadInput): Promise<Thread> {
  checkStoreId('The id of a thread', input.id);
  if (input.resourceId !== undefined) checkStoreId('resourceId', input.resourceId);
  if (input.title !== undefined) checkStoreText('title', input.title);
  const metadata = input.metadata && readJson(input.metadata, 'metadata');
  const values: SqlValue[] = [
    context.generateId(),
    scope,
    input.id,
    input.resourceId ?? null,
    input.title ?? null,
    metadata ? JSON.stringify(metadata) : null,
    input.headId ?? null,
    input.createdAt ? toMilliseconds(input.createdAt) : null,
    input.hidden ?? null,
  ];
  const row = await transact(context.database, context.hints, async (sql, publish) => {
    if (input.headId !== undefined) await checkHead(sql, scope, input.id, input.headId);
    const [saved] = await sql.query<ThreadRow>(upsert, values);
    publish({ type: 'thread', scope, threadId: input.id });
    return saved!;
  });
  return toThread(row);
}

const upsert = `insert into intertie.threads as t (id, scope, key, resource_id, title, metadata, hidden, version, created_at)
  values ($1::text::uuid, $2, $3, $4, $5, $6::text::json, coalesce($9, false), 1, coalesce(${fromMilliseconds('$8::int8')}, now()))
  on conflict (scope, key) do update set resource_id = coalesce(excluded.resource_id, t.resource_id),
    title = coalesce(excluded.title, t.title), metadata = coalesce(excluded.metadata, t.metadata),
    head_id = coalesce($7, t.head_id), hidden = coalesce($9, t.hidden), version = t.version + 1, updated_at = now()
  returning ${threadColumns}`;

async function checkHead(sql: Sql, scope: Scope, threadId: string, headId: string): Promise<void> {
  const thread = await findThread(sql, scope, threadId, { lock: true });
  const rows = await sql.query(
    `select m.id from intertie.conversation_message m
     where m.thread_id = $1::text::uuid and m.id = $2 and m.deleted_at is null`,
    [thread?.uuid ?? null, isStoreText(headId) ? headId : null],
  );
  if (rows.length > 0) return;
  const text = `headId "${headId}" is not a message of thread "${threadId}". Save the message first.`;
  throw new StoreError('not-found', text);
}

const pageSize = 50;

interface ListedRow extends ThreadRow {
  updated_us: string;
  is_paused: boolean;
}

/**
 * A subquery rather than a join, so that every plan is one index lookup per listed thread. As a condition it looks up the threads of
 * the scope until the page is full.
 */
const isPaused = `coalesce((select m.status from intertie.conversation_message m
  where m.thread_id = t.id and m.id = t.head_id and m.deleted_at is null) = 'paused', false)`;

/** Orders by update time and id. The cursor holds both, so that no thread is listed twice. */
export async function listThreads(sql: Sql, scope: Scope, query: ListThreads): Promise<ThreadPage> {
  checkLimit(query.limit);
  const limit = query.limit ?? pageSize;
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const values: SqlValue[] = [scope, limit + 1];
  const conditions = ['t.scope = $1', 'not t.hidden'];
  const add = (value: SqlValue): string => `$${values.push(value)}`;
  if (query.resourceId !== undefined) conditions.push(`t.resource_id = ${add(query.resourceId)}`);
  for (const word of (query.search ?? '').toLowerCase().split(/\s+/).filter(Boolean)) {
    conditions.push(`strpos(lower(t.title), ${add(word)}) > 0`);
  }
  if (query.paused) conditions.push(isPaused);
  if (after) {
    const at = `(timestamptz 'epoch' + ${add(after.us)}::text::bigint * interval '1 microsecond')`;
    conditions.push(`t.updated_at <= ${at} and (t.updated_at < ${at} or t.key > ${add(after.key)})`);
  }
  const rows = await sql.query<ListedRow>(
    `select ${threadColumns}, (extract(epoch from t.updated_at) * 1000000)::bigint::text as updated_us,
       ${isPaused} as is_paused
     from intertie.threads t where ${conditions.join(' and ')}
     order by t.updated_at desc, t.key limit $2::int4`,
    values,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { threads: page.map(toListedThread), ...(last && { cursor: `${last.updated_us}:${last.key}` }) };
}

function toListedThread(row: ListedRow): ListedThread {
  return { ...toThread(row), ...(row.is_paused && { paused: true }) };
}

function readCursor(cursor: string): { us: string; key: string } {
  const [, us, key] = /^(-?\d{1,18}):(.+)$/s.exec(cursor) ?? [];
  if (us === undefined || key === undefined) {
    const text = `"${cursor}" is not a cursor of listThreads. Pass the cursor of the previous page.`;
    throw new StoreError('invalid', text);
  }
  return { us, key };
}
