import { StoreError } from '@intertie/core';
import type { AnswerResult, Continuation } from '@intertie/core/store';
import { checkContinuation, readJson } from '@intertie/core/store';

import type { Sql } from '../database.ts';
import { goLive, hasLiveRun, insertRun } from './new-run.ts';
import { nextQueued } from './next-queued.ts';
import type { RegistryContext } from './registry-context.ts';
import { changeMessage } from './run-message.ts';
import { ownershipOf, selectRun, selectRuns, type RunRow } from './run-record.ts';

/** The run that goes on with a paused one's message, if there is one already. */
export async function continuationOf(sql: Sql, paused: RunRow): Promise<RunRow | undefined> {
  const [next] = await selectRuns(sql, 'r.resumes = $1::text::uuid', [paused.record.key]);
  return next;
}

/** A continuation on its way in. One that could not be made is refused before anything is written. */
export async function readContinuation(sql: Sql, paused: RunRow, continuation: Continuation): Promise<Continuation> {
  checkContinuation(continuation);
  const [taken] = await sql.query(
    `select 1 as taken from intertie.runs
      where thread_id = $1::text::uuid and client_run_id = $2
        and not exists (select 1 from intertie.runs where resumes = $3::text::uuid)`,
    [paused.threadUuid, continuation.runId, paused.record.key],
  );
  if (taken) {
    const text = `runId "${continuation.runId}" of the continuation is taken in thread "${paused.record.threadId}". Make a new one.`;
    throw new StoreError('invalid', text);
  }
  return readJson(continuation, 'continuation');
}

/** Makes the run that goes on with the message of a paused one. The caller has seen that there is none yet. */
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
  await changeMessage(sql, paused, { status: 'streaming', run: { key, runId } }, version);
  const goesLive = !(await hasLiveRun(sql, paused.threadUuid)) && (await nextQueued(sql, paused.threadUuid)) === key;
  if (goesLive) await goLive(sql, key, process);
  const run = (await selectRun(sql, key))!;
  return { run: run.record, created: true, ...(goesLive && { ownership: ownershipOf(run) }) };
}
