import type { CanonicalMessage, Json, JsonObject } from '@intertie/core';
import { messageFormat } from '@intertie/core/internal';

import type { Sql, SqlValue } from '../database.ts';
import { JsonList } from '../json-list.ts';
import { numberList, textList } from '../list-text.ts';
import { messageBy } from './message-by.ts';
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
/** The longest comes last: a driver that writes one after the other into its buffer copies nothing of it again. */
const jsons: Readonly<Record<string, Column<object | Json>>> = {
  state: ({ state }) => state,
  source_state: ({ sourceState }) => sourceState,
  extra: extraOf,
  content: ({ content }) => content,
};
const names = [...Object.keys(texts), ...Object.keys(jsons)];

/** How many values `messageValues` gives. */
export const messageValueCount: number = names.length + 3;

/**
 * What a list of messages is in SQL: one list per column. One that no message has is an empty list, which the others outlast.
 */
export function messageValues(messages: readonly CanonicalMessage[]): SqlValue[] {
  return [
    ...Object.values(texts).map((column) => textList(valuesOf(messages, column))),
    numberList(messages.map(({ createdAt }) => toMilliseconds(createdAt))),
    numberList(breaksOf(messages)),
    numberList(messages.map((_, index) => index + 1)),
    ...Object.values(jsons).map(
      (column) => new JsonList(valuesOf(messages, column).map((json) => JSON.stringify(json))),
    ),
  ];
}

function valuesOf<Value>(messages: readonly CanonicalMessage[], column: Column<Value>): Array<Value | undefined> {
  return messages.some((message) => column(message) !== undefined) ? messages.map(column) : [];
}

/**
 * Where lines begin among messages that are numbered in this order: for each, the place of the last one whose parent is
 * not the message before it, and 0 if that may be the first, whose parent was there before. Mostly that is all of them.
 */
function breaksOf(messages: readonly CanonicalMessage[]): number[] {
  let last = 0;
  const breaks = messages.map(({ parentId }, index) => {
    if (index > 0 && parentId !== messages[index - 1]!.id) last = index + 1;
    return last;
  });
  return last > 0 ? breaks : [];
}

/**
 * The values as rows `v`, in order, with their place as `n`; the first value is `$from`. The lists are in the select list,
 * where they go side by side and the shorter ones end in nulls: after `from`, each would be copied once more. All of them
 * are lists, because the planner takes those for short: a plan that looks dear is not kept.
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

/** The columns that messages fill. */
const insertColumns = `thread_id, seq, version, line, ${names.join(', ')}, created_at, run_id`;

/**
 * Inserts the messages whose values begin at `$from`. `thread` is one row: `id`, `version`, `base`, the number before
 * theirs, and `first_parent`, what the first of them follows. `run` is the run that writes them.
 */
export function insertStatement(from: number, thread: string, run = 'null'): string {
  const columns = names.map((name) =>
    name === 'parent_id' ? 'case when v.n = 1 then thread.first_parent else v.parent_id end' : `v.${name}`,
  );
  // What a message that cannot be seen yet says of its line is not needed: a line may begin anywhere.
  return `insert into intertie.conversation_message (${insertColumns})
    select thread.id, thread.base + v.n, thread.version,
      case when v.break > 0 then thread.base + v.break else coalesce(before.line, thread.base + 1) end,
      ${columns.join(', ')}, ${fromMilliseconds('v.created_at')}, ${run}::text::uuid
    from ${thread} thread
      left join lateral (
        select coalesce(m.line, m.seq) as line
        from ${messageBy('seq', 'thread.id', 'thread.base', 'm.id = thread.first_parent')}) before on true
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
      client_run_id = v.client_run_id, format = ${messageFormat}, content = v.content, state = v.state,
      source_state = v.source_state, extra = v.extra
    from ${thread.from} cross join ${unnestMessages(from)}
    where m.thread_id = ${thread.id} and m.id = v.id`;
}

/** The fields that have a column. */
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

/** The others, which a newer version knows. */
function extraOf(message: CanonicalMessage): JsonObject | undefined {
  // Makes no list of the names, as long as there are no others.
  for (const name in message) {
    if (known.has(name)) continue;
    return Object.fromEntries(Object.entries(message as unknown as JsonObject).filter(([other]) => !known.has(other)));
  }
  return undefined;
}
