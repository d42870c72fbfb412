import { defined } from '../../json/fields.ts';
import type { AnswerResult, Continuation } from '../registry.ts';
import { StoreError } from '../store-error.ts';
import { checkContinuation } from '../rules/check-request.ts';
import { readJson } from '../rules/read-message.ts';
import { changeMessage } from './conversation.ts';
import { findNextQueued } from './find-next-queued.ts';
import { activateRun, insertRun, toRunRecord } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

/** Checks and copies a continuation. Throws before anything is written if the continuation could not be created. */
export function readContinuation(paused: RunRow, continuation: Continuation): Continuation {
  checkContinuation(continuation);
  if (!paused.continuation && paused.thread.runs.has(continuation.runId)) {
    const text = `runId "${continuation.runId}" of the continuation is already used in thread "${paused.thread.id}". Use a new id.`;
    throw new StoreError('invalid', text);
  }
  return readJson(continuation, 'continuation');
}

/** Creates the run that continues the message of a paused one. The caller has checked that there is none yet. */
export function continueRun(
  tables: Tables,
  paused: RunRow,
  { runId, process, input }: Continuation,
  version: number,
): NonNullable<AnswerResult['continuation']> {
  const run = insertRun(tables, paused.message, {
    runId,
    agent: paused.agent,
    resumes: paused,
    ...defined({ input, createdBy: paused.createdBy }),
  });
  paused.continuation = run;
  changeMessage(paused.message, { status: 'streaming', runId }, version);
  if (run.thread.live || findNextQueued(run.thread) !== run) return { run: toRunRecord(run), created: true };
  const ownership = activateRun(tables, run, process);
  return { run: ownership.run, created: true, ownership };
}
