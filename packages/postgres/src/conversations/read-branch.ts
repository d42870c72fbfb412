import { StoreError, type CanonicalMessage } from '@intertie/core';
import type { ListMessages, Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { messageByKey } from './message-by-key.ts';
import { messageColumns, toMessage, type MessageRow } from './message-row.ts';

/** Reads a page of a branch in one statement. The cost depends on the length of the page, not of the thread. */
export async function readBranch(sql: Sql, scope: Scope, query: ListMessages): Promise<CanonicalMessage[]> {
  const { threadId, cursor, limit = null } = query;
  const leaf: Leaf = { scope, threadId, ...(query.leafId !== undefined && { leafId: query.leafId }) };
  const values = leafValues(leaf);
  // Newest message first.
  const rows =
    cursor === undefined
      ? await sql.query<PageRow>(readEnd, [...values, limit], { prepare: true })
      : 'before' in cursor
        ? await sql.query<PageRow>(readBefore, [...values, limit, cursor.before], { prepare: true })
        : await sql.query<PageRow>(readAfter, [...values, limit, cursor.after], { prepare: true });
  if (rows.length === 0) return checkMissing(sql, leaf, cursor);
  const messages = rows.filter(isMessage).map((row) => toMessage(row, threadId));
  return query.orderBy === 'desc' ? messages : messages.toReversed();
}

type Leaf = { scope: Scope; threadId: string; leafId?: string };

function leafValues({ scope, threadId, leafId }: Leaf): SqlValue[] {
  return [scope, threadId, leafId ?? null];
}

/** An existing cursor with no messages before or after it gives one row of nulls; an unknown cursor gives no row. */
type PageRow = MessageRow | (Omit<MessageRow, 'id'> & { id: null });

function isMessage(row: PageRow): row is MessageRow {
  return row.id !== null;
}

/** Selects a message of a thread `t`, with the range of its line. */
export function selectMessageLine(from: string, id: string): string {
  return `select m.thread_id, coalesce(m.line, m.seq) as low, m.seq as high
    from ${from} cross join lateral (select * from ${messageByKey('id', 't.id', id, 'm.deleted_at is null')}) m`;
}

/** Last message of the branch. */
const selectLeaf = `${selectMessageLine('intertie.threads t', 'coalesce($3, t.head_id)')}
  where t.scope = $1 and t.key = $2`;

/**
 * CTE `lines`: the lines of the branch, from its end, as many as needed. A line is a range of consecutive numbers without
 * gaps, so messages are counted without being read. The parent of its first message is on the next line of the branch.
 */
function selectLines({ count, isNeeded, given = '' }: { count: string; isNeeded: string; given?: string }): string {
  return `lines as (
    select thread_id, low, high, ${count} as counted from leaf ${given}
    union all
    select thread_id, low, high, counted + ${count} from (
      select p.thread_id, coalesce(p.line, p.seq) as low, p.seq as high, lines.counted from lines
        cross join lateral (
          select m.parent_id from ${messageByKey('seq', 'lines.thread_id', 'lines.low')}) first
        cross join lateral (
          select m.thread_id, m.line, m.seq from ${messageByKey('id', 'lines.thread_id', 'first.parent_id')}) p
        ${given}
      where ${isNeeded}) next ${given})`;
}

/** Selects messages of the lines. The limit inside bounds the rows that are read per line. */
function selectPage(order: 'asc' | 'desc', { condition = '', limit = '$4::int4' } = {}): string {
  return `select m.* from lines cross join lateral (
      select * from intertie.conversation_message m
      where m.thread_id = lines.thread_id and m.seq between lines.low and lines.high ${condition}
      order by m.seq ${order} limit ${limit}) m
    order by m.seq ${order} limit ${limit}`;
}

function needsMore(limit = '$4::int4'): string {
  return `lines.counted < coalesce(${limit}, 2147483647)`;
}

/** CTE `page` of a recursive statement: the newest messages of a branch. `leaf` selects its last message with `selectMessageLine`. */
export function selectBranchEnd(leaf: string, limit: string): string {
  return `leaf as materialized (${leaf}),
    ${selectLines({ count: 'high - low + 1', isNeeded: needsMore(limit) })},
    page as (${selectPage('desc', { limit })})`;
}

const readEnd = `with recursive ${selectBranchEnd(selectLeaf, '$4::int4')}
  select ${messageColumns} from page m order by m.seq desc`;

/** Wraps a page in the check that the cursor `$5` is on the branch. */
function fromCursor(lines: string, page: string): string {
  return `with recursive leaf as materialized (${selectLeaf}),
    cursor as materialized (
      select m.seq from leaf cross join lateral (
        select m.seq from ${messageByKey('id', 'leaf.thread_id', '$5', 'm.deleted_at is null')}) m),
    ${lines},
    place as (select cursor.seq from cursor join lines on cursor.seq between lines.low and lines.high)
    select ${messageColumns} from place left join lateral (${page}) m on true order by m.seq desc`;
}

const given = 'cross join cursor';

const readBefore = fromCursor(
  selectLines({ count: 'greatest(least(high, cursor.seq - 1) - low + 1, 0)', isNeeded: needsMore(), given }),
  selectPage('desc', { condition: 'and m.seq < place.seq' }),
);

const readAfter = fromCursor(
  selectLines({ count: '0', isNeeded: 'lines.low > cursor.seq', given }),
  selectPage('asc', { condition: 'and m.seq > place.seq' }),
);

/** Handles an empty result: an empty or unknown thread, or a leaf or cursor that is not on the branch, which throws. */
async function checkMissing(sql: Sql, leaf: Leaf, cursor: ListMessages['cursor']): Promise<never[]> {
  const [what, id] =
    leaf.leafId !== undefined && !(cursor && (await hasLeaf(sql, leaf)))
      ? ['leafId', leaf.leafId]
      : ['cursor', cursor && ('before' in cursor ? cursor.before : cursor.after)];
  if (id === undefined || !(await hasThread(sql, leaf))) return [];
  const text = `${what} "${id}" is not on this branch of thread "${leaf.threadId}". List the branch again from its end.`;
  throw new StoreError('not-found', text);
}

async function hasLeaf(sql: Sql, leaf: Leaf): Promise<boolean> {
  const rows = await sql.query(`select leaf.high::float8 as seq from (${selectLeaf}) leaf`, leafValues(leaf));
  return rows.length > 0;
}

async function hasThread(sql: Sql, { scope, threadId }: Leaf): Promise<boolean> {
  const rows = await sql.query('select t.key from intertie.threads t where t.scope = $1 and t.key = $2', [
    scope,
    threadId,
  ]);
  return rows.length > 0;
}
