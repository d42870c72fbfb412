import type { CanonicalMessage, Json, MessageContent, MessageStatus } from '@intertie/core';

import { messageColumns, toMessage, type MessageRow } from '../conversations/message-row.ts';
import type { Sql } from '../database.ts';
import type { RunRow } from './run-record.ts';

export type MessageUpdate = {
  content?: MessageContent;
  status?: MessageStatus;
  state?: Json;
  sourceState?: Json;
  /** New owner of the message. */
  run?: { key: string; runId: string };
};

/** Updates the given fields of a run's message. The thread is locked. */
export async function updateRunMessage(sql: Sql, run: RunRow, change: MessageUpdate, version: number): Promise<void> {
  await sql.query(
    `update intertie.conversation_message
      set content = coalesce($3::text::json, content), status = coalesce($4, status),
        state = coalesce($5::text::json, state), source_state = coalesce($6::text::json, source_state),
        run_id = coalesce($7::text::uuid, run_id), client_run_id = coalesce($8, client_run_id),
        revision = revision + 1, version = $9::float8::bigint, updated_at = clock_timestamp()
      where thread_id = $1::text::uuid and id = $2`,
    [
      run.threadUuid,
      run.record.messageId,
      toJsonText(change.content),
      change.status ?? null,
      toJsonText(change.state),
      toJsonText(change.sourceState),
      change.run?.key ?? null,
      change.run?.runId ?? null,
      version,
    ],
  );
}

export async function readRunContent(sql: Sql, run: RunRow): Promise<MessageContent> {
  const [row] = await sql.query<{ content: string }>(
    'select content::text as content from intertie.conversation_message where thread_id = $1::text::uuid and id = $2',
    [run.threadUuid, run.record.messageId],
  );
  return JSON.parse(row!.content) as MessageContent;
}

/** Whether the message of a run is neither deleted nor aborted. */
export async function isMessageActive(sql: Sql, { threadUuid, record }: RunRow): Promise<boolean> {
  const [kept] = await sql.query(
    `select 1 as kept from intertie.conversation_message
      where thread_id = $1::text::uuid and id = $2 and deleted_at is null and status <> 'aborted'`,
    [threadUuid, record.messageId],
  );
  return kept !== undefined;
}

/** Reads the message of a run, unless it was deleted. */
export async function readRunMessage(sql: Sql, { threadUuid, record }: RunRow): Promise<CanonicalMessage | undefined> {
  const [row] = await sql.query<MessageRow>(
    `select ${messageColumns} from intertie.conversation_message m
      where m.thread_id = $1::text::uuid and m.id = $2 and m.deleted_at is null`,
    [threadUuid, record.messageId],
  );
  return row && toMessage(row, record.threadId);
}

export function toJsonText(value: Json | MessageContent | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
