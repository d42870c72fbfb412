import type { Json, Outcome, RunRecord, Usage } from '@intertie/core';
import type { Ownership, RunKey, RunState, Scope } from '@intertie/core/store';

import type { Sql, SqlValue } from '../database.ts';

/** A run with its record and, while it is live, its ownership. */
export type RunRow = {
  record: RunRecord;
  threadUuid: string;
  epoch: number;
  nextSeq: number;
  isLive: boolean;
  /** Claim of the call that transferred the run to its process. Absent if the run was created live. */
  claim?: string;
};

type Columns = {
  key: string;
  thread_uuid: string;
  scope: string;
  thread_key: string;
  client_run_id: string;
  message_id: string;
  agent: string;
  state: string;
  process: string | null;
  claim: string | null;
  waiting: boolean | null;
  was_queued: boolean;
  attempts: number | null;
  resumes: string | null;
  input: string | null;
  outcome: string | null;
  usage: string | null;
  last_seq: number | null;
  created_by: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  epoch: number;
  next_seq: number;
};

/** Selects runs. `where` may use `r` (runs), `t` (threads) and `l` (run_live, null if the run is not live). */
export async function selectRuns(sql: Sql, where: string, values: readonly SqlValue[], rest = ''): Promise<RunRow[]> {
  const rows = await sql.query<Columns>(
    `select r.id::text as key, t.id::text as thread_uuid, t.scope, t.key as thread_key, r.client_run_id, r.message_id,
        r.agent, r.state, l.process, l.claim, l.waiting, l.attempts,
        r.started_at is distinct from r.created_at as was_queued, r.resumes::text, r.input::text, r.outcome::text, r.usage::text,
        r.last_seq::float8, r.created_by, (extract(epoch from r.created_at) * 1000)::float8 as created_at,
        (extract(epoch from r.started_at) * 1000)::float8 as started_at,
        (extract(epoch from r.ended_at) * 1000)::float8 as ended_at,
        coalesce(l.epoch, r.last_epoch, 0) as epoch, coalesce(l.next_seq, r.last_seq + 1, 1)::float8 as next_seq
      from intertie.runs r
        join intertie.threads t on t.id = r.thread_id
        left join intertie.run_live l on l.run_id = r.id
      where ${where} ${rest}`,
    values,
  );
  return rows.map(toRunRow);
}

export async function selectRun(sql: Sql, key: string): Promise<RunRow | undefined> {
  const [row] = await selectRuns(sql, 'r.id = $1::text::uuid', [key]);
  return row;
}

export function toOwnership({ record, epoch, nextSeq }: RunRow): Ownership {
  return { run: record, epoch, nextSeq };
}

/** Whether the process owns the run under this claim. */
export function isClaimed({ record, claim }: RunRow, process: string, by: string): boolean {
  return record.process === process && claim === by;
}

/** Whether the process has owned the run since its creation and has logged no events. */
export function isUntouched({ record, isLive, claim, epoch, nextSeq }: RunRow, process: string | undefined): boolean {
  return isLive && record.process === process && claim === undefined && epoch === 1 && nextSeq === 1;
}

function toRunRow(row: Columns): RunRow {
  return {
    threadUuid: row.thread_uuid,
    epoch: row.epoch,
    nextSeq: row.next_seq,
    isLive: row.process !== null,
    ...(row.claim !== null && { claim: row.claim }),
    record: {
      key: row.key as RunKey,
      scope: row.scope as Scope,
      runId: row.client_run_id,
      threadId: row.thread_key,
      messageId: row.message_id,
      agent: row.agent,
      state: row.state as RunState,
      ...(row.process !== null && { process: row.process }),
      ...(row.waiting && { waiting: true }),
      ...(row.was_queued && { wasQueued: true }),
      ...(row.attempts !== null && row.attempts > 1 && { attempts: row.attempts }),
      ...(row.resumes !== null && { resumes: row.resumes as RunKey }),
      ...(row.input !== null && { input: JSON.parse(row.input) as Json }),
      ...(row.outcome !== null && { outcome: JSON.parse(row.outcome) as Outcome }),
      ...(row.usage !== null && { usage: JSON.parse(row.usage) as Usage[] }),
      ...(row.last_seq !== null && { lastSeq: row.last_seq }),
      ...(row.created_by !== null && { createdBy: row.created_by }),
      createdAt: new Date(row.created_at),
      ...(row.started_at !== null && { startedAt: new Date(row.started_at) }),
      ...(row.ended_at !== null && { endedAt: new Date(row.ended_at) }),
    },
  };
}
