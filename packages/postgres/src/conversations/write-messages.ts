import { messageFormat, type CanonicalMessage, type JsonObject } from '@intertie/core';

import type { Sql, SqlValue } from '../database.ts';
import { toTimestamp } from './to-timestamp.ts';

/** What a list of messages is in SQL: one array per column. `run` is the uuid of the run that writes them. */
export function messageArrays(messages: readonly CanonicalMessage[], run?: string): SqlValue[] {
  const rows = messages.map((message) => toColumns(message));
  return [
    ...names.map((name) => rows.map((row) => row[name] ?? null)),
    rows.map((row) => row.created_at),
    rows.map(() => run ?? null),
  ];
}

const names = [
  'id',
  'client_id',
  'parent_id',
  'role',
  'type',
  'status',
  'resource_id',
  'client_run_id',
  'content',
  'state',
  'source_state',
  'extra',
] as const;

/** The arrays as rows `v`, in order, with their place as `n`; the first array is `$from`. */
export function unnestMessages(from: number): string {
  const arrays = names.map((_, index) => `$${from + index}::text[]`);
  const rest = `$${from + names.length}::text[], $${from + names.length + 1}::text[]`;
  return `unnest(${arrays.join(', ')}, ${rest}) with ordinality v(${names.join(', ')}, created_at, run_id, n)`;
}

/** The columns that `unnestMessages` fills, and how, after the thread's uuid, seq and version. */
export const insertColumns: string = `thread_id, seq, version, ${names.join(', ')}, created_at, run_id`;
export const insertValues: string = names
  .map((name) => (['content', 'state', 'source_state', 'extra'].includes(name) ? `v.${name}::json` : `v.${name}`))
  .concat('v.created_at::timestamptz', 'v.run_id::uuid')
  .join(', ');

/** Adds messages to a thread that is locked. The first gets the number `base + 1`. */
export async function insertMessages(
  sql: Sql,
  at: { threadUuid: string; base: number; version: number },
  messages: readonly CanonicalMessage[],
  run?: string,
): Promise<void> {
  if (messages.length === 0) return;
  await sql.query(
    `insert into intertie.conversation_message (${insertColumns})
     select $1::text::uuid, $2::float8::bigint + v.n, $3::float8::bigint, ${insertValues}
     from ${unnestMessages(4)}`,
    [at.threadUuid, at.base, at.version, ...messageArrays(messages, run)],
  );
}

/** Who, when and where they were said stays, and `run_id` too: a save does not change whose message it is. */
export function updateStatement(from: number, thread: { id: string; version: string; from: string }): string {
  return `update intertie.conversation_message m set version = ${thread.version}, revision = m.revision + 1,
      updated_at = now(), client_id = v.client_id, status = v.status, resource_id = v.resource_id,
      client_run_id = v.client_run_id, format = ${messageFormat}, content = v.content::json, state = v.state::json,
      source_state = v.source_state::json, extra = v.extra::json
    from ${thread.from} cross join ${unnestMessages(from)}
    where m.thread_id = ${thread.id} and m.id = v.id`;
}

type Columns = Record<(typeof names)[number], string | undefined> & { created_at: string };

function toColumns(message: CanonicalMessage): Columns {
  const {
    id,
    threadId: _,
    role,
    type,
    content,
    createdAt,
    resourceId,
    clientId,
    parentId,
    runId,
    status,
    ...rest
  } = message;
  const { state, sourceState, ...extra } = rest as typeof rest & JsonObject;
  return {
    id,
    client_id: clientId,
    parent_id: parentId,
    role,
    type,
    status: status ?? 'complete',
    resource_id: resourceId,
    client_run_id: runId,
    content: JSON.stringify(content),
    state: JSON.stringify(state),
    source_state: JSON.stringify(sourceState),
    extra: Object.keys(extra).length > 0 ? JSON.stringify(extra) : undefined,
    created_at: toTimestamp(createdAt),
  };
}
