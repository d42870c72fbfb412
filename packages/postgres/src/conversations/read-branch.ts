import { StoreError, type CanonicalMessage, type ListMessages, type Scope } from '@intertie/core';

import type { Sql, SqlValue } from '../database.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

/** A page of a branch. The last messages of a thread cost no more than their number, however long it is. */
export async function readBranch(sql: Sql, scope: Scope, query: ListMessages): Promise<CanonicalMessage[]> {
  const { threadId, cursor, limit } = query;
  const leaf: Leaf = { scope, threadId, ...(query.leafId !== undefined && { leafId: query.leafId }) };
  // The newest first.
  const rows =
    cursor === undefined
      ? await readEnd(sql, leaf, limit)
      : 'before' in cursor
        ? await readBefore(sql, leaf, cursor.before, limit)
        : await readAfter(sql, leaf, cursor.after, limit);
  const messages = (rows ?? (await explain(sql, leaf, cursor))).map((row) => toMessage(row, threadId));
  return query.orderBy === 'desc' ? messages : messages.toReversed();
}

type Leaf = { scope: Scope; threadId: string; leafId?: string };

/** The thread and the end of the branch: `thread_id`, `id`, `parent_id`, `seq`. */
const leafOf = `select m.thread_id, m.id, m.parent_id, m.seq
  from intertie.threads t join intertie.conversation_message m
    on m.thread_id = t.id and m.id = coalesce($3, t.head_id) and m.deleted_at is null
  where t.scope = $1 and t.key = $2`;

function leafValues({ scope, threadId, leafId }: Leaf): SqlValue[] {
  return [scope, threadId, leafId ?? null];
}

interface BranchRow extends MessageRow {
  thread_id: string;
}

const branchColumns = `m.thread_id::text as thread_id, ${messageColumns}`;

/** Undefined: there is no such branch. */
async function readEnd(sql: Sql, leaf: Leaf, limit: number | undefined): Promise<MessageRow[] | undefined> {
  const rows = await sql.query<BranchRow>(
    `with leaf as materialized (${leafOf})
     select ${branchColumns} from leaf join lateral (
       select * from intertie.conversation_message m where m.thread_id = leaf.thread_id and m.seq <= leaf.seq
       order by m.seq desc limit $4::int4) m on true
     order by m.seq desc`,
    [...leafValues(leaf), limit ?? null],
  );
  const [last] = rows;
  return last && followBranch(sql, rows, last.id, limit);
}

async function readBefore(
  sql: Sql,
  leaf: Leaf,
  before: string,
  limit: number | undefined,
): Promise<MessageRow[] | undefined> {
  const found = await sql.query<{ thread_id: string; parent_id: string | null; seq: number }>(
    `with recursive ${walkToCursor}
     select thread_id::text as thread_id, parent_id, seq::float8 as seq from walk where id = $4`,
    [...leafValues(leaf), before],
  );
  const [cursor] = found;
  if (!cursor) return undefined;
  if (cursor.parent_id === null) return [];
  const rows = await sql.query<BranchRow>(
    `select ${branchColumns} from intertie.conversation_message m
     where m.thread_id = $1::text::uuid and m.seq < $2::float8::bigint order by m.seq desc limit $3::int4`,
    [cursor.thread_id, cursor.seq, limit ?? null],
  );
  return followBranch(sql, rows, cursor.parent_id, limit);
}

async function readAfter(
  sql: Sql,
  leaf: Leaf,
  after: string,
  limit: number | undefined,
): Promise<MessageRow[] | undefined> {
  const rows = await sql.query<BranchRow>(
    `with recursive ${walkToCursor}
     select ${branchColumns} from (
       select thread_id, id, seq from walk where exists (select from walk where id = $4)
       order by seq limit $5::float8::bigint + 1) w
     join intertie.conversation_message m on m.thread_id = w.thread_id and m.id = w.id
     order by m.seq desc`,
    [...leafValues(leaf), after, limit ?? null],
  );
  // The cursor itself comes last, so that finding nothing after it is not the same as not finding it.
  return rows.length === 0 ? undefined : rows.slice(0, -1);
}

/** The branch from its end down to the message `$4`, if that is on it: ids alone, so that far back is not far. */
const walkToCursor = `leaf as materialized (${leafOf}),
  cursor as materialized (
    select m.seq from leaf join intertie.conversation_message m on m.thread_id = leaf.thread_id and m.id = $4
    where m.deleted_at is null),
  walk as (
    select leaf.thread_id, leaf.id, leaf.parent_id, leaf.seq from leaf join cursor on leaf.seq >= cursor.seq
    union all
    select m.thread_id, m.id, m.parent_id, m.seq from walk
      join intertie.conversation_message m on m.thread_id = walk.thread_id and m.id = walk.parent_id
      join cursor on m.seq >= cursor.seq)`;

/**
 * The branch that ends with a message, out of rows from the newest on. In a thread without branches they are just that;
 * where others lie between, what they have displaced is read by its parents.
 */
async function followBranch(
  sql: Sql,
  rows: readonly BranchRow[],
  endId: string,
  limit = Infinity,
): Promise<MessageRow[]> {
  const branch: MessageRow[] = [];
  let next: string | null = endId;
  for (const row of rows) {
    if (row.id !== next) continue;
    branch.push(row);
    next = row.parent_id;
  }
  if (next === null || branch.length >= limit || rows.length === 0) return branch;
  const rest = await sql.query<MessageRow>(
    `with recursive walk as (
       select m.*, 1 as depth from intertie.conversation_message m where m.thread_id = $1::text::uuid and m.id = $2
       union all
       select m.*, walk.depth + 1 from walk
         join intertie.conversation_message m on m.thread_id = walk.thread_id and m.id = walk.parent_id
       where walk.depth < coalesce($3::int4, 2147483647))
     select ${messageColumns} from walk m order by m.seq desc`,
    [rows[0]!.thread_id, next, limit === Infinity ? null : limit - branch.length],
  );
  return [...branch, ...rest];
}

/** There was nothing to read: an empty or unknown thread, or the caller named a message that is not on the branch. */
async function explain(sql: Sql, leaf: Leaf, cursor: ListMessages['cursor']): Promise<never[]> {
  const [what, id] =
    leaf.leafId !== undefined && !(cursor && (await hasLeaf(sql, leaf)))
      ? ['leafId', leaf.leafId]
      : ['cursor', cursor && ('before' in cursor ? cursor.before : cursor.after)];
  if (id === undefined || !(await hasThread(sql, leaf))) return [];
  const text = `${what} "${id}" is no message of this branch of thread "${leaf.threadId}". List the branch again from its end.`;
  throw new StoreError('not-found', text);
}

async function hasLeaf(sql: Sql, leaf: Leaf): Promise<boolean> {
  const rows = await sql.query(`select leaf.id from (${leafOf}) leaf`, leafValues(leaf));
  return rows.length > 0;
}

async function hasThread(sql: Sql, { scope, threadId }: Leaf): Promise<boolean> {
  const rows = await sql.query('select t.key from intertie.threads t where t.scope = $1 and t.key = $2', [
    scope,
    threadId,
  ]);
  return rows.length > 0;
}
