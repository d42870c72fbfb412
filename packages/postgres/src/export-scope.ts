import { encodeMessage, type AgentEvent, type Json } from '@intertie/core';
import { encodeBase64 } from '@intertie/core/internal';
import type { Scope } from '@intertie/core/store';
import { readJson, withoutCheckpoints } from '@intertie/core/store';

import type { Sql, SqlRow, SqlValue } from './database.ts';
import { selectDecisions } from './registry/decision-row.ts';
import { selectRuns } from './registry/run-record.ts';
import { messageColumns, toMessage, type MessageRow } from './conversations/message-row.ts';
import { threadColumns, toThread, type ThreadRow } from './conversations/thread-row.ts';

const pageSize = 200;

/** Exports each thread with its messages, runs, decisions and logs, then the blobs. Reads page by page, on demand. */
export async function* exportScope(sql: Sql, scope: Scope): AsyncGenerator<Json> {
  const threads = pages<ThreadRow>(sql, {
    statement: `select ${threadColumns} from intertie.threads t where t.scope = $1
      and ($2::text is null or t.id > $2::text::uuid) order by t.id limit ${pageSize}`,
    values: [scope],
    last: (row) => row.uuid,
  });
  for await (const row of threads) {
    yield { type: 'thread', thread: toJson(toThread(row)) };
    yield* exportMessages(sql, row);
    yield* exportRuns(sql, row);
  }
  yield* exportBlobs(sql, scope);
}

async function* exportMessages(sql: Sql, thread: ThreadRow): AsyncGenerator<Json> {
  const rows = pages<MessageRow & { seq: number }>(sql, {
    statement: `select m.seq::float8 as seq, ${messageColumns} from intertie.conversation_message m
      where m.thread_id = $1::text::uuid and m.deleted_at is null and ($2::float8 is null or m.seq > $2::float8::bigint)
      order by m.seq limit ${pageSize}`,
    values: [thread.uuid],
    last: (row) => row.seq,
  });
  for await (const row of rows) yield { type: 'message', message: encodeMessage(toMessage(row, thread.key)) };
}

async function* exportRuns(sql: Sql, thread: ThreadRow): AsyncGenerator<Json> {
  for (const { record } of await selectRuns(sql, 'r.thread_id = $1::text::uuid', [thread.uuid], 'order by r.serial')) {
    yield { type: 'run', run: toJson(record) };
    for (const { decision } of await selectDecisions(sql, 'd.run_id = $1::text::uuid', [record.key])) {
      yield { type: 'decision', decision: toJson(decision) };
    }
    const rows = pages<{ last_seq: number; body: string }>(sql, {
      statement: `select last_seq::float8 as last_seq, body from intertie.run_events
        where run_id = $1::text::uuid and ($2::float8 is null or last_seq > $2::float8::bigint)
        order by last_seq limit ${pageSize}`,
      values: [record.key],
      last: (row) => row.last_seq,
    });
    for await (const { body } of rows) {
      yield {
        type: 'log',
        threadId: thread.key,
        runId: record.runId,
        events: withoutCheckpoints(JSON.parse(body) as Array<AgentEvent & Json>),
      };
    }
  }
}

async function* exportBlobs(sql: Sql, scope: Scope): AsyncGenerator<Json> {
  type Blob = { sha256: string; size: number; media_type: string | null; url: string | null; data: Uint8Array | null };
  const rows = pages<Blob>(sql, {
    statement: `select encode(sha256, 'hex') as sha256, size::float8 as size, media_type, url, data from intertie.blobs
      where scope = $1 and ($2::text is null or sha256 > decode($2, 'hex')) order by sha256 limit 1`,
    values: [scope],
    last: (row) => row.sha256,
  });
  for await (const { sha256, size, media_type: mediaType, url, data } of rows) {
    yield {
      type: 'blob',
      sha256,
      size,
      ...(mediaType !== null && { mediaType }),
      ...(url !== null && { url }),
      ...(data && { data: encodeBase64(data) }),
    };
  }
}

/** Yields the rows of a statement, page by page. The last parameter is the key of the previous row, or null. */
async function* pages<Row extends SqlRow>(
  sql: Sql,
  query: { statement: string; values: readonly SqlValue[]; last: (row: Row) => string | number },
): AsyncGenerator<Row> {
  for (let after: string | number | null = null; ;) {
    const rows: Row[] = await sql.query<Row>(query.statement, [...query.values, after]);
    yield* rows;
    const last = rows.at(-1);
    if (!last) return;
    after = query.last(last);
  }
}

function toJson(value: object): Json {
  return readJson<unknown>(value, 'export') as Json;
}
