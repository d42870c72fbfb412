import { StoreError } from '@intertie/core';
import type { AnswerResult, Continuation } from '@intertie/core/store';
import { checkContinuation, readJson } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { activateRun, hasLiveRun, insertRun } from './insert-run.ts';
import { findNextQueued } from './find-next-queued.ts';
import type { RegistryContext } from './registry-context.ts';
import { updateRunMessage } from './run-message.ts';
import { toOwnership, selectRun, selectRuns, type RunRow } from './run-record.ts';

/** Finds the continuation of a paused run. */
export async function findContinuation(sql: Sql, paused: RunRow): Promise<RunRow | undefined> {
  const [next] = await selectRuns(sql, 'r.resumes = $1::text::uuid', [paused.record.key]);
  return next;
}

/** Validates a continuation. Rejects a used run id before anything is written. */
export async function readContinuation(sql: Sql, paused: RunRow, continuation: Continuation): Promise<Continuation> {
  checkContinuation(continuation);
  const [taken] = await sql.query(
    `select 1 as taken from intertie.runs
      where thread_id = $1::text::uuid and client_run_id = $2
        and not exists (select 1 from intertie.runs where resumes = $3::text::uuid)`,
    [paused.threadUuid, continuation.runId, paused.record.key],
  );
  if (taken) {
    const text = `runId "${continuation.runId}" of the continuation is already used in thread "${paused.record.threadId}". Use a new id.`;
    throw new StoreError('invalid', text);
  }
  return readJson(continuation, 'continuation');
}

/** Creates the run that continues the message of a paused one. The caller has checked that none exists. */
export async function continueRun(
  context: RegistryContext,
  sql: Sql,
  paused: RunRow,
  { runId, process, input }: Continuation,
  version: number,
): Promise<NonNullable<AnswerResult['continuation']>> {
  const { messageId, agent, createdBy, key: resumes } = paused.record;
  const key = context.generateId();
  await insertRun(sql, {
    key,
    threadUuid: paused.threadUuid,
    messageId,
    runId,
    agent,
    resumes,
    ...(input !== undefined && { input }),
    ...(createdBy !== undefined && { createdBy }),
  });
  await updateRunMessage(sql, paused, { status: 'streaming', run: { key, runId } }, version);
  const isNext = !(await hasLiveRun(sql, paused.threadUuid)) && (await findNextQueued(sql, paused.threadUuid)) === key;
  if (isNext) await activateRun(sql, key, process);
  const run = (await selectRun(sql, key))!;
  return { run: run.record, created: true, ...(isNext && { ownership: toOwnership(run) }) };
}
