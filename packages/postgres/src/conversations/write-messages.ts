import type { CanonicalMessage, Json, JsonObject } from '@intertie/core';
import { messageFormat } from '@intertie/core/internal';

import type { Sql, SqlValue } from '../database.ts';
import { JsonArrayParameter } from '../json-array-parameter.ts';
import { toNumberArray, toTextArray } from '../array-literal.ts';
import { messageByKey } from './message-by-key.ts';
import { fromMilliseconds, toMilliseconds } from './milliseconds.ts';

type Column<Value> = (message: CanonicalMessage) => Value | undefined;

const texts: Readonly<Record<string, Column<string>>> = {
  id: ({ id }) => id,
  client_id: ({ clientId }) => clientId,
  parent_id: ({ parentId }) => parentId,
  role: ({ role }) => role,
  type: ({ type }) => type,
  status: ({ status }) => status ?? 'complete',
  resource_id: ({ resourceId }) => resourceId,
  client_run_id: ({ runId }) => runId,
};
/** `content` comes last, because it is the longest: drivers append values to a buffer that is copied when it grows. */
const jsons: Readonly<Record<string, Column<object | Json>>> = {
  state: ({ state }) => state,
  source_state: ({ sourceState }) => sourceState,
  extra: getExtra,
  content: ({ content }) => content,
};
const names = [...Object.keys(texts), ...Object.keys(jsons)];

/** Number of values of `messageValues`. */
export const messageValueCount: number = names.length + 3;

/** Parameters for a list of messages: one array per column. A column without values is an empty array, which unnests to nulls. */
export function messageValues(messages: readonly CanonicalMessage[]): SqlValue[] {
  return [
    ...Object.values(texts).map((column) => toTextArray(toColumn(messages, column))),
    toNumberArray(messages.map(({ createdAt }) => toMilliseconds(createdAt))),
    toNumberArray(findLineStarts(messages)),
    toNumberArray(messages.map((_, index) => index + 1)),
    ...Object.values(jsons).map(
      (column) => new JsonArrayParameter(toColumn(messages, column).map((json) => JSON.stringify(json))),
    ),
  ];
}

function toColumn<Value>(messages: readonly CanonicalMessage[], column: Column<Value>): Array<Value | undefined> {
  return messages.some((message) => column(message) !== undefined) ? messages.map(column) : [];
}

/**
 * Line starts for messages that are numbered in this order: for each message, the 1-based position of the last message whose
 * parent is not its predecessor. 0 if that is the first message, whose parent is already stored. Usually all are 0.
 */
function findLineStarts(messages: readonly CanonicalMessage[]): number[] {
  let last = 0;
  const breaks = messages.map(({ parentId }, index) => {
    if (index > 0 && parentId !== messages[index - 1]!.id) last = index + 1;
    return last;
  });
  return last > 0 ? breaks : [];
}

/**
 * Rows `v` of the values from `$from` on, in order, with their position `n`. The arrays are unnested in the select list, which
 * pads shorter ones with nulls; in `from`, each would be copied once more. All are arrays because the planner assumes that
 * arrays are short: it does not cache a plan that looks expensive.
 */
function unnestMessages(from: number): string {
  const columns = [
    ...Object.keys(texts).map((name) => ({ name, type: 'text' })),
    { name: 'created_at', type: 'int8' },
    { name: 'break', type: 'int4' },
    { name: 'n', type: 'int4' },
    ...Object.keys(jsons).map((name) => ({ name, type: 'json' })),
  ].map(({ name, type }, index) => `unnest($${from + index}::${type}[]) as ${name}`);
  return `(select ${columns.join(', ')}) v`;
}

const insertColumns = `thread_id, seq, version, line, ${names.join(', ')}, created_at, run_id`;

/**
 * Inserts the messages whose values begin at `$from`. `thread` is one row with `id`, `version`, `base` (the number before the
 * first new message) and `first_parent`. `run` is the run that owns the messages.
 */
export function insertStatement(from: number, thread: string, run = 'null'): string {
  const columns = names.map((name) =>
    name === 'parent_id' ? 'case when v.n = 1 then thread.first_parent else v.parent_id end' : `v.${name}`,
  );
  // If the parent is not visible to this statement yet, a new line starts, which is always correct.
  return `insert into intertie.conversation_message (${insertColumns})
    select thread.id, thread.base + v.n, thread.version,
      case when v.break > 0 then thread.base + v.break else coalesce(before.line, thread.base + 1) end,
      ${columns.join(', ')}, ${fromMilliseconds('v.created_at')}, ${run}::text::uuid
    from ${thread} thread
      left join lateral (
        select coalesce(m.line, m.seq) as line
        from ${messageByKey('seq', 'thread.id', 'thread.base', 'm.id = thread.first_parent')}) before on true
      cross join ${unnestMessages(from)}`;
}

/** Inserts messages into a locked thread. The first gets the number `base + 1`. */
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

/** Keeps role, creation time, position and `run_id`: a save does not change the owner of a message. */
export function updateStatement(from: number, thread: { id: string; version: string; from: string }): string {
  return `update intertie.conversation_message m set version = ${thread.version}, revision = m.revision + 1,
      updated_at = now(), client_id = v.client_id, status = v.status, resource_id = v.resource_id,
      client_run_id = v.client_run_id, format = ${messageFormat}, content = v.content, state = v.state,
      source_state = v.source_state, extra = v.extra
    from ${thread.from} cross join ${unnestMessages(from)}
    where m.thread_id = ${thread.id} and m.id = v.id`;
}

/** Fields with a column of their own. */
const known: ReadonlySet<string> = new Set<keyof CanonicalMessage>([
  'id',
  'threadId',
  'role',
  'type',
  'content',
  'createdAt',
  'resourceId',
  'clientId',
  'parentId',
  'runId',
  'status',
  'state',
  'sourceState',
]);

/** Collects all other fields, which a newer version may have written. */
function getExtra(message: CanonicalMessage): JsonObject | undefined {
  // A loop avoids an array of names per message; usually there are no extra fields.
  for (const name in message) {
    if (known.has(name)) continue;
    return Object.fromEntries(Object.entries(message as unknown as JsonObject).filter(([other]) => !known.has(other)));
  }
  return undefined;
}
