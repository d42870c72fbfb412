import type { Answer, Outcome } from '@intertie/core';
import type { Decision, DecisionRequest, RunKey, ToolAnswer } from '@intertie/core/store';
import { isAwaited } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';
import { cleanText } from './clean-text.ts';
import type { RunRow } from './run-record.ts';

export type DecisionRow = {
  decision: Decision;
  request: DecisionRequest;
  /** Open and past its expiry, by the clock of the database. */
  isOverdue: boolean;
};

type Columns = {
  run_key: string;
  client_run_id: string;
  thread_key: string;
  message_id: string;
  request: string;
  state: string;
  answer: string | null;
  answered_by: string | null;
  answered_at: number | null;
  expires_at: number | null;
  overdue: boolean;
};

/** Selects decisions in the order in which they were asked. `where` may use `d` (decisions), `r` (runs) and `t` (threads). */
export async function selectDecisions(sql: Sql, where: string, values: readonly SqlValue[]): Promise<DecisionRow[]> {
  const rows = await sql.query<Columns>(
    `select d.run_id::text as run_key, r.client_run_id, t.key as thread_key, d.message_id, d.request::text, d.state,
        d.answer::text, d.answered_by, (extract(epoch from d.answered_at) * 1000)::float8 as answered_at,
        (extract(epoch from d.expires_at) * 1000)::float8 as expires_at,
        d.state = 'open' and coalesce(d.expires_at <= clock_timestamp(), false) as overdue
      from intertie.decisions d
        join intertie.runs r on r.id = d.run_id
        join intertie.threads t on t.id = r.thread_id
      where ${where} order by r.serial, d.position`,
    values,
  );
  return rows.map(toDecisionRow);
}

export function selectRunDecisions(sql: Sql, run: RunKey): Promise<DecisionRow[]> {
  return selectDecisions(sql, 'd.run_id = $1::text::uuid', [run]);
}

/** Inserts the decisions that a run asks for. Existing ones stay unchanged. */
export async function openDecisions(sql: Sql, run: RunRow, requests: readonly DecisionRequest[]): Promise<void> {
  if (requests.length === 0) return;
  await sql.query(
    `insert into intertie.decisions
        (run_id, id, position, thread_id, message_id, kind, tool_call_id, request, expires_at)
      select $1::text::uuid, v.id, before.n + v.n, $2::text::uuid, $3, v.kind, v.tool_call_id, v.request::json,
        to_timestamp(v.expires_at / 1000)
      from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
          with ordinality v(id, kind, tool_call_id, request, expires_at, n)
        cross join (select coalesce(max(position), 0) n from intertie.decisions where run_id = $1::text::uuid) before
      on conflict (run_id, id) do nothing`,
    [
      run.record.key,
      run.threadUuid,
      run.record.messageId,
      requests.map(({ id }) => id),
      requests.map(({ kind }) => kind),
      requests.map(({ toolCallId }) => (toolCallId === undefined ? null : cleanText(toolCallId))),
      requests.map((request) => JSON.stringify({ ...request, expiresAt: undefined })),
      requests.map(({ expiresAt }) => expiresAt?.getTime() ?? null),
    ],
  );
}

/** Settles the open ones of these decisions. */
export async function settleDecisions(
  sql: Sql,
  run: RunKey,
  ids: readonly string[],
  state: 'cancelled' | 'expired',
): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    `update intertie.decisions set state = $3
      where run_id = $1::text::uuid and id = any ($2::text[]) and state = 'open'`,
    [run, ids, state],
  );
}

export function isOpen({ decision }: DecisionRow): boolean {
  return decision.state === 'open';
}

/** Filters the decisions that a run with this outcome waits for. */
export function filterAwaited(outcome: Outcome | undefined, rows: readonly DecisionRow[]): DecisionRow[] {
  return rows.filter(({ request }) => isAwaited(outcome, request));
}

/** Whether a run with this outcome waited for decisions that are all answered now. */
export function isAnswered(outcome: Outcome | undefined, rows: readonly DecisionRow[]): boolean {
  const awaited = filterAwaited(outcome, rows);
  return awaited.length > 0 && awaited.every(({ decision }) => decision.state === 'answered');
}

function toDecisionRow(row: Columns): DecisionRow {
  const request = {
    ...(JSON.parse(row.request) as DecisionRequest),
    ...(row.expires_at !== null && { expiresAt: new Date(row.expires_at) }),
  };
  return {
    request,
    isOverdue: row.overdue,
    decision: {
      ...request,
      run: row.run_key as RunKey,
      runId: row.client_run_id,
      threadId: row.thread_key,
      messageId: row.message_id,
      state: row.state as Decision['state'],
      ...(row.answer !== null && { answer: JSON.parse(row.answer) as Answer | ToolAnswer }),
      ...(row.answered_by !== null && { answeredBy: row.answered_by }),
      ...(row.answered_at !== null && { answeredAt: new Date(row.answered_at) }),
    },
  };
}
