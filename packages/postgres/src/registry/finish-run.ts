import { applyAnswer, type Json, type MessageContent } from '@intertie/core';
import { equalJson, isLostRun } from '@intertie/core/internal';
import type { FinishRequest, FinishResult, Ownership, RunKey } from '@intertie/core/store';
import { toNearestJson, readContent, readDecisions } from '@intertie/core/store';

import { referenceBlobs } from '../blobs/blob-refs.ts';
import { hasLargeFiles, moveFiles } from '../blobs/move-files.ts';
import type { Sql } from '../database.ts';
import { insertEvents } from '../run-log/write-log.ts';
import { transact, type PublishOnCommit } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { abandonRun } from './abandon-run.ts';
import { findContinuation, continueRun, readContinuation } from './continue-run.ts';
import {
  filterAwaited,
  selectRunDecisions,
  isAnswered,
  isOpen,
  openDecisions,
  settleDecisions,
  type DecisionRow,
} from './decision-row.ts';
import { endRun } from './end-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { updateRunMessage, readRunMessage } from './run-message.ts';
import { isUntouched, toOwnership, selectRun, type RunRow } from './run-record.ts';
import { lockRunThread, nextVersion } from './lock-run-thread.ts';

type Owned = { process: string; stop: boolean; stop_reason: string | null };

export async function finishRun(
  context: RegistryContext,
  key: RunKey,
  epoch: number,
  given: FinishRequest,
): Promise<FinishResult> {
  const request = { ...given, content: await moveRunFiles(context, key, readContent(given.content)) };
  return transact(context.database.hot, context.hints, async (sql, publish) => {
    const run = await lockRunThread(sql, key);
    if (!run) return { result: 'fenced' };
    const [owned] = await sql.query<Owned>(
      `delete from intertie.run_live
        where run_id = $1::text::uuid and epoch = $2 and (next_seq = $3::float8::bigint or $4)
        returning process, stop_requested_at is not null as stop, stop_reason`,
      [key, epoch, request.nextSeq, request.detachedLog === true],
    );
    const continuation = owned
      ? await endOwnedRun(context, sql, publish, run, { ...request, ...owned, epoch })
      : await readRepeatedFinish(sql, run, epoch, request);
    if (continuation === 'fenced') return { result: 'fenced' };
    const message = await readRunMessage(sql, run);
    if (!message) return { result: 'fenced' };
    return { result: 'ok', message, ...(continuation && { continuation }) };
  });
}

/** Moves large files into blobs before the transaction, which must not wait for anything else. */
async function moveRunFiles(
  { database, blobs }: RegistryContext,
  key: RunKey,
  content: MessageContent,
): Promise<MessageContent> {
  if (!hasLargeFiles(content) || !isUuid(key)) return content;
  const run = await selectRun(database.hot, key);
  return run ? moveFiles(blobs, run.record.scope, content) : content;
}

async function endOwnedRun(
  context: RegistryContext,
  sql: Sql,
  publish: PublishOnCommit,
  run: RunRow,
  request: FinishRequest & Owned & { epoch: number },
): Promise<Ownership | undefined> {
  const { key } = run.record;
  const { content } = request;
  const outcome = toNearestJson(request.outcome);
  const continuation = request.continuation && (await readContinuation(sql, run, toNearestJson(request.continuation)));
  const requests = readDecisions(request.decisions ?? []);
  const events = request.detachedLog ? [] : request.events;
  await insertEvents(sql, { run: key, epoch: request.epoch, seq: request.nextSeq, events });
  if (outcome.outcome === 'paused') await openDecisions(sql, run, requests);
  await endRun(sql, key, {
    outcome,
    epoch: request.epoch,
    lastSeq: request.nextSeq + request.events.length - 1,
    ...(request.usage && { usage: toNearestJson(request.usage) }),
  });
  const ended: RunRow = { ...run, record: { ...run.record, outcome } };
  const version = await nextVersion(sql, publish, run);
  const decisions = await selectRunDecisions(sql, key);
  await updateRunMessage(
    sql,
    run,
    {
      content: withAnswers(decisions, content),
      status: outcome.outcome,
      ...(request.state !== undefined && { state: toNearestJson(request.state) }),
      ...(request.sourceState !== undefined && { sourceState: toNearestJson(request.sourceState) }),
    },
    version,
  );
  await referenceBlobs(sql, run.record.scope, run.threadUuid, [{ id: run.record.messageId, content }]);
  const awaited = filterAwaited(outcome, decisions);
  // Decisions that the run does not wait for are over. Those of a lost run can no longer be answered.
  const settled = decisions.filter((row) => isOpen(row) && !awaited.includes(row)).map(({ request: { id } }) => id);
  await settleDecisions(sql, key, settled, isLostRun(outcome) ? 'expired' : 'cancelled');
  const isUnanswerable = awaited.some(({ decision: { state } }) => state === 'cancelled' || state === 'expired');
  // A stopped run, for example one that was replaced, is not continued.
  const isStopped = request.stop && awaited.length > 0;
  if (isUnanswerable) await abandonRun(sql, ended, 'expired', version);
  else if (isStopped) await abandonRun(sql, ended, request.stop_reason ?? 'stopped', version);
  publish({ type: 'flushed', process: request.process });
  if (!continuation || isStopped || !isAnswered(outcome, decisions)) return undefined;
  return (await continueRun(context, sql, ended, continuation, version)).ownership;
}

/** Adds stored answers to the content. Answers that it already contains stay. */
function withAnswers(decisions: readonly DecisionRow[], content: MessageContent): MessageContent {
  let answered = content;
  for (const { decision } of decisions) if (decision.answer) answered = applyAnswer(answered, decision.answer);
  return answered;
}

/** Result of a finish whose acknowledgement was lost. Includes the ownership of the continuation if it is still unused. */
async function readRepeatedFinish(
  sql: Sql,
  run: RunRow,
  epoch: number,
  request: FinishRequest,
): Promise<Ownership | undefined | 'fenced'> {
  const isSame =
    run.record.endedAt !== undefined &&
    run.epoch === epoch &&
    run.nextSeq === request.nextSeq + request.events.length &&
    equalJson(run.record.outcome as Json, toNearestJson(request.outcome));
  if (!isSame) return 'fenced';
  const next = await findContinuation(sql, run);
  return next && isUntouched(next, request.continuation?.process) ? toOwnership(next) : undefined;
}
