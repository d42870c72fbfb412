import type { CanonicalMessage } from '@intertie/core';
import type { Scope } from '@intertie/core/store';

import { refArrays, referWith } from '../blobs/blob-refs.ts';
import type { Sql, SqlValue } from '../database.ts';
import { messageBy } from './message-by.ts';
import { insertStatement, messageValueCount, messageValues, updateStatement } from './write-messages.ts';

/** What the first new message follows: the thread's head whatever it is, the head if it is this message, or nothing. */
export type FirstParent = 'head' | { head: string } | 'given';

export type Append = {
  scope: Scope;
  threadId: string;
  /** For the thread, if there is none. */
  uuid: string;
  resourceId?: string;
  /** The version that the thread has to have; 0: there is none. */
  expectedVersion?: number;
  /** `given`: all parents are as the messages say. */
  first: FirstParent;
  inserts: readonly CanonicalMessage[];
  /** Messages that are there, as they shall be. Only with `expectedVersion`: they were made of what was read at it. */
  updates?: readonly CanonicalMessage[];
  request?: { key: string; hash: string };
};

/**
 * Creates or changes a thread, its messages, their blob references and the operation key in one statement, and so in one
 * round trip. It decides by columns of the thread's row alone, which it locks first; whether ids are new is looked up
 * too, and where that does not say it the key of the table refuses. Undefined: a guard has refused, and nothing has
 * happened.
 */
export async function appendMessages(
  sql: Sql,
  append: Append,
): Promise<{ version: number; parentId: string | null } | undefined> {
  const { inserts, updates = [], request, first } = append;
  const [refIds, refHashes] = refArrays([...inserts, ...updates]);
  const shape: Shape = {
    inserts: inserts.length > 0,
    given: inserts.length > 0 && first === 'given',
    updates: updates.length > 0,
    request: request !== undefined,
    refs: refIds.length > 0,
  };
  // In the order in which `statementOf` counts them.
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
    statementOf(shape),
    values,
    // The others look for rows by lists.
    shape.updates || shape.refs ? {} : { keepPlan: true },
  );
  const [row] = rows;
  return row && { version: row.version, parentId: row.parent_id };
}

/** What a statement has to do. `given`: the first message says what it follows. */
type Shape = { inserts: boolean; given: boolean; updates: boolean; request: boolean; refs: boolean };

/** By shape. There are few, they are long, and the same text is found again faster than an equal one. */
const statements = new Map<string, string>();

function statementOf(shape: Shape): string {
  const key = Object.values(shape).join();
  let text = statements.get(key);
  if (text === undefined) statements.set(key, (text = writeStatement(shape)));
  return text;
}

function writeStatement(shape: Shape): string {
  const parts = [lockedThread];
  let next = 10;
  const take = (count: number): number => (next += count) - count;
  if (shape.inserts) {
    const from = take(messageValueCount);
    const parent = shape.given ? `$${take(1)}::text` : 'thread.head_id';
    const thread = `(select thread.*, ${parent} as first_parent from thread)`;
    parts.push(`inserted as (${insertStatement(from, thread)})`);
  }
  if (shape.updates) {
    const thread = { id: 'thread.id', version: 'thread.version', from: 'thread' };
    parts.push(`updated as (${updateStatement(take(messageValueCount), thread)})`);
  }
  if (shape.request) {
    const from = take(2);
    parts.push(
      `noted as (insert into intertie.requests (scope, key, hash, thread_ids)
        select $1, $${from}, $${from + 1}, array[thread.id] from thread)`,
    );
  }
  if (shape.refs) {
    const from = take(2);
    parts.push(referWith({ thread: 'thread', scope: '$1', ids: `$${from}`, hashes: `$${from + 1}` }));
  }
  return `with ${parts.join(',\n')} select thread.version::float8 as version, thread.head_id as parent_id from thread`;
}

/**
 * `thread`: the row as it will be, with the head that it had and the number before its first new message. Of the new ids
 * the first and the last are looked up: who saves again begins, or ends, with what is there.
 */
const lockedThread = `known as materialized (
    select t.id, t.head_id, t.next_seq, t.version from intertie.threads t where t.scope = $1 and t.key = $2
    for no key update),
  free as materialized (
    select known.* from known
    where ($5::float8 is null or known.version = $5::float8::bigint) and ($8::text is null or known.head_id = $8)
      and not exists (select from unnest(array[$7, $9::text]) new(id) cross join lateral (
        select from ${messageBy('id', 'known.id', 'new.id')}) there)),
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
