import type { CanonicalMessage } from '@intertie/core';
import type { Scope } from '@intertie/core/store';

import { toRefArrays, referenceCtes } from '../blobs/blob-refs.ts';
import type { Sql, SqlValue } from '../database.ts';
import { messageByKey } from './message-by-key.ts';
import { insertStatement, messageValueCount, messageValues, updateStatement } from './write-messages.ts';

/** Parent of the first new message: the current head, the head if it is this message, or the parent in the message. */
export type FirstParent = 'head' | { head: string } | 'given';

export type Append = {
  scope: Scope;
  threadId: string;
  /** Id of the thread if it does not exist yet. */
  uuid: string;
  resourceId?: string;
  /** Required version of the thread. 0 requires that it does not exist. */
  expectedVersion?: number;
  /** Parent of `inserts[0]`. The parents of the other messages are in the messages. */
  first: FirstParent;
  inserts: readonly CanonicalMessage[];
  /** New content of existing messages. Requires `expectedVersion`, because it was computed from that version. */
  updates?: readonly CanonicalMessage[];
  request?: { key: string; hash: string };
};

/**
 * Writes a thread, its messages, their blob references and the operation key in one statement, that is, in one round trip.
 * The conditions use only columns of the thread row, which is locked first. The first and the last new id are looked up; the
 * primary key rejects other duplicates. Returns undefined if a condition failed and nothing was written.
 */
export async function appendMessages(
  sql: Sql,
  append: Append,
): Promise<{ version: number; parentId: string | null } | undefined> {
  const { inserts, updates = [], request, first } = append;
  const [refIds, refHashes] = toRefArrays([...inserts, ...updates]);
  const shape: Shape = {
    inserts: inserts.length > 0,
    given: inserts.length > 0 && first === 'given',
    updates: updates.length > 0,
    request: request !== undefined,
    refs: refIds.length > 0,
  };
  // In the parameter order of `getStatement`.
  const values: SqlValue[] = [
    append.scope,
    append.threadId,
    append.uuid,
    append.resourceId ?? null,
    append.expectedVersion ?? null,
    inserts.length,
    inserts.at(-1)?.id ?? null,
    typeof first === 'object' ? first.head : null,
    inserts[0]?.id ?? null,
    ...(shape.inserts ? messageValues(inserts) : []),
    ...(shape.given ? [inserts[0]!.parentId ?? null] : []),
    ...(shape.updates ? messageValues(updates) : []),
    ...(request ? [request.key, request.hash] : []),
    ...(shape.refs ? [refIds, refHashes] : []),
  ];
  const rows = await sql.query<{ version: number; parent_id: string | null }>(
    getStatement(shape),
    values,
    // Updates and references look rows up by lists of unknown length, for which a cached plan may be wrong.
    shape.updates || shape.refs ? {} : { prepare: true },
  );
  const [row] = rows;
  return row && { version: row.version, parentId: row.parent_id };
}

/** Optional parts of the statement. `given`: the parent of the first message is a parameter. */
type Shape = { inserts: boolean; given: boolean; updates: boolean; request: boolean; refs: boolean };

/** Statements by shape. Reusing the same string makes the lookup of the prepared statement faster. */
const statements = new Map<string, string>();

function getStatement(shape: Shape): string {
  const key = Object.values(shape).join();
  let text = statements.get(key);
  if (text === undefined) statements.set(key, (text = writeStatement(shape)));
  return text;
}

function writeStatement(shape: Shape): string {
  const parts = [lockedThread];
  let next = 10;
  const reserve = (count: number): number => (next += count) - count;
  if (shape.inserts) {
    const from = reserve(messageValueCount);
    const parent = shape.given ? `$${reserve(1)}::text` : 'thread.head_id';
    const thread = `(select thread.*, ${parent} as first_parent from thread)`;
    parts.push(`inserted as (${insertStatement(from, thread)})`);
  }
  if (shape.updates) {
    const thread = { id: 'thread.id', version: 'thread.version', from: 'thread' };
    parts.push(`updated as (${updateStatement(reserve(messageValueCount), thread)})`);
  }
  if (shape.request) {
    const from = reserve(2);
    parts.push(
      `recorded as (insert into intertie.requests (scope, key, hash, thread_ids)
        select $1, $${from}, $${from + 1}, array[thread.id] from thread)`,
    );
  }
  if (shape.refs) {
    const from = reserve(2);
    parts.push(referenceCtes({ thread: 'thread', scope: '$1', ids: `$${from}`, hashes: `$${from + 1}` }));
  }
  return `with ${parts.join(',\n')} select thread.version::float8 as version, thread.head_id as parent_id from thread`;
}

/**
 * `thread` is the row after the change, with the previous head and `base`, the number before the first new message. Only the
 * first and the last new id are looked up: a repeated save starts or ends with a stored message.
 */
const lockedThread = `known as materialized (
    select t.id, t.head_id, t.next_seq, t.version from intertie.threads t where t.scope = $1 and t.key = $2
    for no key update),
  free as materialized (
    select known.* from known
    where ($5::float8 is null or known.version = $5::float8::bigint) and ($8::text is null or known.head_id = $8)
      and not exists (select from unnest(array[$7, $9::text]) new(id) cross join lateral (
        select from ${messageByKey('id', 'known.id', 'new.id')}) stored)),
  created as (
    insert into intertie.threads (id, scope, key, resource_id, next_seq, version, head_id)
    select $3::text::uuid, $1, $2, $4, $6::int4, 1, $7
    where not exists (select from known) and coalesce($5::float8, 0) = 0 and $8::text is null
    on conflict (scope, key) do nothing returning id),
  changed as (
    update intertie.threads t
    set next_seq = t.next_seq + $6::int4, version = t.version + 1, head_id = coalesce($7, t.head_id), updated_at = now()
    from free where t.id = free.id),
  thread as materialized (
    select id, head_id, next_seq as base, version + 1 as version from free
    union all select id, null, 0, 1 from created)`;
