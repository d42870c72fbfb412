import type { Json } from '@intertie/core';

import type { Sql } from '../database.ts';
import { toJsonText } from './run-message.ts';

export type NewRun = {
  key: string;
  threadUuid: string;
  messageId: string;
  runId: string;
  agent: string;
  resumes?: string;
  input?: Json;
  createdBy?: string;
  branchKey?: string;
  /** Owner of the run. Absent for a queued run. */
  process?: string;
};

export async function insertRun(sql: Sql, run: NewRun): Promise<void> {
  await sql.query(
    `with made as (
        insert into intertie.runs
          (id, thread_id, message_id, client_run_id, agent, resumes, input, created_by, state, started_at, branch_key)
        select $1::text::uuid, $2::text::uuid, $3, $4, $5, $6::text::uuid, $7::text::json, $8,
          case when $9::text is null then 'queued' else 'running' end,
          case when $9::text is null then null else now() end, $10
        returning id, thread_id)
      insert into intertie.run_live (run_id, thread_id, process)
      select id, thread_id, $9 from made where $9::text is not null`,
    [
      run.key,
      run.threadUuid,
      run.messageId,
      run.runId,
      run.agent,
      run.resumes ?? null,
      toJsonText(run.input),
      run.createdBy ?? null,
      run.process ?? null,
      run.branchKey ?? null,
    ],
  );
}

/** Starts a queued run. The thread is locked and has no live run. */
export async function activateRun(sql: Sql, key: string, process: string, claim?: string): Promise<void> {
  await sql.query(
    `with started as (
        update intertie.runs set state = 'running', started_at = now()
        where id = $1::text::uuid and state = 'queued' returning id, thread_id)
      insert into intertie.run_live (run_id, thread_id, process, claim) select id, thread_id, $2, $3 from started`,
    [key, process, claim ?? null],
  );
}

/** Whether the locked thread has a live run. */
export async function hasLiveRun(sql: Sql, threadUuid: string): Promise<boolean> {
  const [live] = await sql.query('select 1 as live from intertie.run_live where thread_id = $1::text::uuid', [
    threadUuid,
  ]);
  return live !== undefined;
}
