import type { CanonicalMessage, Scope } from '@intertie/core';

import { refArrays, referWith } from '../blobs/blob-refs.ts';
import type { Sql, SqlValue } from '../database.ts';
import { messageBy } from './message-by.ts';
import { insertStatement, messageValues, updateStatement } from './write-messages.ts';

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
  const { inserts, updates = [], request } = append;
  const [refIds, refHashes] = refArrays([...inserts, ...updates]);
  const values: SqlValue[] = [
    append.scope,
    append.threadId,
    append.uuid,
    append.resourceId ?? null,
    append.expectedVersion ?? null,
    inserts.length,
    inserts.at(-1)?.id ?? null,
    typeof append.first === 'object' ? append.first.head : null,
    inserts[0]?.id ?? null,
  ];
  const add = (...more: SqlValue[]): number => values.push(...more) - more.length + 1;
  const inserted = inserts.length > 0 ? add(...messageValues(inserts)) : undefined;
  const parts = [lockedThread];
  if (inserted !== undefined) {
    const parent = append.first === 'given' ? `$${add(inserts[0]!.parentId ?? null)}::text` : 'thread.head_id';
    const thread = `(select thread.*, ${parent} as first_parent from thread)`;
    parts.push(`inserted as (${insertStatement(inserted, thread)})`);
  }
  if (updates.length > 0) {
    const from = add(...messageValues(updates));
    parts.push(`updated as (${updateStatement(from, { id: 'thread.id', version: 'thread.version', from: 'thread' })})`);
  }
  if (request) {
    const from = add(request.key, request.hash);
    parts.push(
      `noted as (insert into intertie.requests (scope, key, hash, thread_ids)
        select $1, $${from}, $${from + 1}, array[thread.id] from thread)`,
    );
  }
  if (refIds.length > 0) {
    const from = add(refIds, refHashes);
    parts.push(referWith({ thread: 'thread', scope: '$1', ids: `$${from}`, hashes: `$${from + 1}` }));
  }
  const rows = await sql.query<{ version: number; parent_id: string | null }>(
    `with ${parts.join(',\n')} select thread.version::float8 as version, thread.head_id as parent_id from thread`,
    values,
    // The others look for rows by lists.
    updates.length + refIds.length === 0 ? { keepPlan: true } : {},
  );
  const [row] = rows;
  return row && { version: row.version, parentId: row.parent_id };
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
