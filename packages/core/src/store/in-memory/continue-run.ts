import type { AnswerResult, Continuation } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import { checkContinuation } from '../rules/check-request.ts';
import { readJson } from '../rules/read-message.ts';
import { changeMessage } from './conversation.ts';
import { nextQueued } from './next-queued.ts';
import { goLive, queueRun, recordOf } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

/** A continuation on its way in. One that could not be made is refused before anything is written. */
export function readContinuation(paused: RunRow, continuation: Continuation): Continuation {
  checkContinuation(continuation);
  if (!paused.continuation && paused.thread.runs.has(continuation.runId)) {
    const text = `runId "${continuation.runId}" of the continuation is taken in thread "${paused.thread.id}". Make a new one.`;
    throw new StoreError('invalid', text);
  }
  return readJson(continuation, 'continuation');
}

/** Makes the run that goes on with the message of a paused one. The caller has seen that there is none yet. */
export function continueRun(
  tables: Tables,
  paused: RunRow,
  { runId, process, input }: Continuation,
  version: number,
): NonNullable<AnswerResult['continuation']> {
  const run = queueRun(tables, paused.message, {
    runId,
    agent: paused.agent,
    resumes: paused,
    ...(input !== undefined && { input }),
    ...(paused.createdBy !== undefined && { createdBy: paused.createdBy }),
  });
  paused.continuation = run;
  changeMessage(paused.message, { status: 'streaming', runId }, version);
  if (run.thread.live || nextQueued(run.thread) !== run) return { run: recordOf(run), created: true };
  const ownership = goLive(tables, run, process);
  return { run: ownership.run, created: true, ownership };
}
