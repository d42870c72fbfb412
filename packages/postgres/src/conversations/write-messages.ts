import { messageFormat, type CanonicalMessage, type JsonObject } from '@intertie/core';

import type { Sql, SqlValue } from '../database.ts';
import { toTimestamp } from './to-timestamp.ts';

const texts = ['id', 'client_id', 'parent_id', 'role', 'type', 'status', 'resource_id', 'client_run_id'] as const;
const jsons = ['content', 'state', 'source_state', 'extra'] as const;
const names = [...texts, ...jsons];

/**
 * What a list of messages is in SQL: one value per column. JSON goes as lines, because it never holds a line break: quoted
 * inside an array, a long text would be escaped twice.
 */
export function messageValues(messages: readonly CanonicalMessage[]): SqlValue[] {
  const rows = messages.map((message) => toColumns(message));
  return [
    ...texts.map((name) => rows.map((row) => row[name] ?? null)),
    ...jsons.map((name) => rows.map((row) => row[name] ?? '').join('\n')),
    rows.map((row) => row.created_at),
    breaksOf(messages),
  ];
}

/**
 * Where lines begin among messages that are numbered in this order: for each, the place of the last one whose parent is
 * not the message before it, and 0 if that may be the first, whose parent was there before.
 */
function breaksOf(messages: readonly CanonicalMessage[]): number[] {
  let last = 0;
  return messages.map(({ parentId }, index) => {
    if (index > 0 && parentId !== messages[index - 1]!.id) last = index + 1;
    return last;
  });
}

/** The values as rows `v`, in order, with their place as `n`; the first value is `$from`. */
function unnestMessages(from: number): string {
  const arrays = [
    ...texts.map((_, index) => `$${from + index}::text[]`),
    ...jsons.map((_, index) => `string_to_array($${from + texts.length + index}::text, E'\\n', '')`),
    `$${from + names.length}::text[]`,
    `$${from + names.length + 1}::int4[]`,
  ];
  return `unnest(${arrays.join(', ')}) with ordinality v(${names.join(', ')}, created_at, break, n)`;
}

/** The columns that messages fill. */
const insertColumns = `thread_id, seq, version, line, ${names.join(', ')}, created_at, run_id`;

/**
 * Inserts the messages whose values begin at `$from`. `thread` is one row: `id`, `version`, `base`, the number before
 * theirs, and `first_parent`, what the first of them follows. `run` is the run that writes them.
 */
export function insertStatement(from: number, thread: string, run = 'null'): string {
  const columns = names.map((name) =>
    name === 'parent_id'
      ? 'case when v.n = 1 then thread.first_parent else v.parent_id end'
      : `v.${name}${(jsons as readonly string[]).includes(name) ? '::json' : ''}`,
  );
  // What a message that cannot be seen yet says of its line is not needed: a line may begin anywhere.
  return `insert into intertie.conversation_message (${insertColumns})
    select thread.id, thread.base + v.n, thread.version,
      case when v.break > 0 then thread.base + v.break else coalesce(before.line, thread.base + 1) end,
      ${columns.join(', ')}, v.created_at::timestamptz, ${run}::text::uuid
    from ${thread} thread
      left join lateral (
        select coalesce(p.line, p.seq) as line from intertie.conversation_message p
        where p.thread_id = thread.id and p.id = thread.first_parent and p.seq = thread.base limit 1) before on true
      cross join ${unnestMessages(from)}`;
}

/** Adds messages to a thread that is locked. The first gets the number `base + 1`. */
export async function insertMessages(
  sql: Sql,
  at: { threadUuid: string; base: number; version: number },
  messages: readonly CanonicalMessage[],
  run?: string,
): Promise<void> {
  const [first] = messages;
  if (!first) return;
  const thread = `(select $1::text::uuid as id, $2::float8::bigint as base, $3::float8::bigint as version,
    $4::text as first_parent)`;
  const values = [at.threadUuid, at.base, at.version, first.parentId ?? null, run ?? null];
  await sql.query(insertStatement(6, thread, '$5'), [...values, ...messageValues(messages)]);
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
