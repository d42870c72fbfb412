import { StoreError, type CanonicalMessage } from '@intertie/core';
import type { ListMessages, Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { messageBy } from './message-by.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

/** A page of a branch, in one statement. It costs its own length, wherever in a thread it is, and however long that is. */
export async function readBranch(sql: Sql, scope: Scope, query: ListMessages): Promise<CanonicalMessage[]> {
  const { threadId, cursor, limit = null } = query;
  const leaf: Leaf = { scope, threadId, ...(query.leafId !== undefined && { leafId: query.leafId }) };
  const values = leafValues(leaf);
  // The newest first.
  const rows =
    cursor === undefined
      ? await sql.query<PageRow>(readEnd, [...values, limit], { keepPlan: true })
      : 'before' in cursor
        ? await sql.query<PageRow>(readBefore, [...values, limit, cursor.before], { keepPlan: true })
        : await sql.query<PageRow>(readAfter, [...values, limit, cursor.after], { keepPlan: true });
  if (rows.length === 0) return explain(sql, leaf, cursor);
  const messages = rows.filter(isMessage).map((row) => toMessage(row, threadId));
  return query.orderBy === 'desc' ? messages : messages.toReversed();
}

type Leaf = { scope: Scope; threadId: string; leafId?: string };

function leafValues({ scope, threadId, leafId }: Leaf): SqlValue[] {
  return [scope, threadId, leafId ?? null];
}

/** A cursor with nothing before or after it is one row of nothing; no row at all is a cursor that is not there. */
type PageRow = MessageRow | (Omit<MessageRow, 'id'> & { id: null });

function isMessage(row: PageRow): row is MessageRow {
  return row.id !== null;
}

/** The end of the branch, and where its line begins. */
const leafOf = `select m.thread_id, coalesce(m.line, m.seq) as low, m.seq as high
  from intertie.threads t cross join lateral (
    select * from ${messageBy('id', 't.id', 'coalesce($3, t.head_id)', 'm.deleted_at is null')}) m
  where t.scope = $1 and t.key = $2`;

/**
 * The branch as \`lines\` from its end on, as many as are needed: ranges of numbers, of which nothing is missing, so that
 * messages are counted without being read. The first message of a line says where the branch goes on.
 */
function linesOf({ count, isNeeded, given = '' }: { count: string; isNeeded: string; given?: string }): string {
  return `lines as (
    select thread_id, low, high, ${count} as counted from leaf ${given}
    union all
    select thread_id, low, high, counted + ${count} from (
      select p.thread_id, coalesce(p.line, p.seq) as low, p.seq as high, lines.counted from lines
        cross join lateral (
          select m.parent_id from ${messageBy('seq', 'lines.thread_id', 'lines.low')}) first
        cross join lateral (
          select m.thread_id, m.line, m.seq from ${messageBy('id', 'lines.thread_id', 'first.parent_id')}) p
        ${given}
      where ${isNeeded}) next ${given})`;
}

/** Messages of the lines. What is read of each is bounded, too. */
function pageOf(order: 'asc' | 'desc', condition = ''): string {
  return `select m.* from lines cross join lateral (
      select * from intertie.conversation_message m
      where m.thread_id = lines.thread_id and m.seq between lines.low and lines.high ${condition}
      order by m.seq ${order} limit $4::int4) m
    order by m.seq ${order} limit $4::int4`;
}

const isShort = 'lines.counted < coalesce($4::int4, 2147483647)';

const readEnd = `with recursive leaf as materialized (${leafOf}),
  ${linesOf({ count: 'high - low + 1', isNeeded: isShort })}
  select ${messageColumns} from (${pageOf('desc')}) m order by m.seq desc`;

/** The message \`$5\`, if it is on the branch. */
function fromCursor(lines: string, page: string): string {
  return `with recursive leaf as materialized (${leafOf}),
    cursor as materialized (
      select m.seq from leaf cross join lateral (
        select m.seq from ${messageBy('id', 'leaf.thread_id', '$5', 'm.deleted_at is null')}) m),
    ${lines},
    place as (select cursor.seq from cursor join lines on cursor.seq between lines.low and lines.high)
    select ${messageColumns} from place left join lateral (${page}) m on true order by m.seq desc`;
}

const given = 'cross join cursor';

const readBefore = fromCursor(
  linesOf({ count: 'greatest(least(high, cursor.seq - 1) - low + 1, 0)', isNeeded: isShort, given }),
  pageOf('desc', 'and m.seq < place.seq'),
);

const readAfter = fromCursor(
  linesOf({ count: '0', isNeeded: 'lines.low > cursor.seq', given }),
  pageOf('asc', 'and m.seq > place.seq'),
);

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
  const rows = await sql.query(`select leaf.high::float8 as seq from (${leafOf}) leaf`, leafValues(leaf));
  return rows.length > 0;
}

async function hasThread(sql: Sql, { scope, threadId }: Leaf): Promise<boolean> {
  const rows = await sql.query('select t.key from intertie.threads t where t.scope = $1 and t.key = $2', [
    scope,
    threadId,
  ]);
  return rows.length > 0;
}
