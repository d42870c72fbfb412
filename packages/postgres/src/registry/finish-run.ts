import { applyAnswer, type Json, type MessageContent } from '@intertie/core';
import { equalJson } from '@intertie/core/internal';
import type { FinishRequest, FinishResult, Ownership, RunKey } from '@intertie/core/store';
import { keepJson, readContent, readDecisions } from '@intertie/core/store';

import { referBlobs } from '../blobs/blob-refs.ts';
import { hasLargeFiles, moveFiles } from '../blobs/move-files.ts';
import type { Sql } from '../database.ts';
import { insertEvents } from '../run-log/insert-events.ts';
import { transact, type Tell } from '../transact.ts';
import { isUuid } from '../uuid.ts';
import { abandonRun } from './abandon-run.ts';
import { continuationOf, continueRun, readContinuation } from './continue-run.ts';
import {
  awaitedOf,
  decisionsOfRun,
  isAnswered,
  isOpen,
  openDecisions,
  settleDecisions,
  type DecisionRow,
} from './decision-row.ts';
import { endRun } from './end-run.ts';
import type { RegistryContext } from './registry-context.ts';
import { changeMessage, messageOf } from './run-message.ts';
import { isUntouched, ownershipOf, selectRun, type RunRow } from './run-record.ts';
import { lockThreadOf, nextVersion } from './thread-lock.ts';

type Owned = { process: string; stop: boolean; stop_reason: string | null };

export async function finishRun(
  context: RegistryContext,
  key: RunKey,
  epoch: number,
  given: FinishRequest,
): Promise<FinishResult> {
  const request = { ...given, content: await withoutFiles(context, key, readContent(given.content)) };
  return transact(context.database.hot, context.hints, async (sql, tell) => {
    const run = await lockThreadOf(sql, key);
    if (!run) return { result: 'fenced' };
    const [owned] = await sql.query<Owned>(
      `delete from intertie.run_live
        where run_id = $1::text::uuid and epoch = $2 and (next_seq = $3::float8::bigint or $4)
        returning process, stop_requested_at is not null as stop, stop_reason`,
      [key, epoch, request.nextSeq, request.logElsewhere === true],
    );
    const continuation = owned
      ? await end(context, sql, tell, run, { ...request, ...owned, epoch })
      : await repeated(sql, run, epoch, request);
    if (continuation === 'fenced') return { result: 'fenced' };
    const message = await messageOf(sql, run);
    if (!message) return { result: 'fenced' };
    return { result: 'ok', message, ...(continuation && { continuation }) };
  });
}

/** The content with its large files in blobs. They are put there before the transaction, which awaits nothing else. */
async function withoutFiles(
  { database, blobs }: RegistryContext,
  key: RunKey,
  content: MessageContent,
): Promise<MessageContent> {
  if (!hasLargeFiles(content) || !isUuid(key)) return content;
  const run = await selectRun(database.hot, key);
  return run ? moveFiles(blobs, run.record.scope, content) : content;
}

async function end(
  context: RegistryContext,
  sql: Sql,
  tell: Tell,
  run: RunRow,
  request: FinishRequest & Owned & { epoch: number },
): Promise<Ownership | undefined> {
  const { key } = run.record;
  const { content } = request;
  const outcome = keepJson(request.outcome);
  const continuation = request.continuation && (await readContinuation(sql, run, keepJson(request.continuation)));
  const requests = readDecisions(request.decisions ?? []);
  const events = request.logElsewhere ? [] : request.events;
  await insertEvents(sql, { run: key, epoch: request.epoch, seq: request.nextSeq, events });
  if (outcome.outcome === 'paused') await openDecisions(sql, run, requests);
  await endRun(sql, key, {
    outcome,
    epoch: request.epoch,
    lastSeq: request.nextSeq + request.events.length - 1,
    ...(request.usage && { usage: keepJson(request.usage) }),
  });
  const ended: RunRow = { ...run, record: { ...run.record, outcome } };
  const version = await nextVersion(sql, tell, run);
  const decisions = await decisionsOfRun(sql, key);
  await changeMessage(
    sql,
    run,
    {
      content: withAnswers(decisions, content),
      status: outcome.outcome,
      ...(request.state !== undefined && { state: keepJson(request.state) }),
      ...(request.sourceState !== undefined && { sourceState: keepJson(request.sourceState) }),
    },
    version,
  );
  await referBlobs(sql, run.record.scope, run.threadUuid, [{ id: run.record.messageId, content }]);
  const awaited = awaitedOf(outcome, decisions);
  // What it asked and does not wait for is over. A process that died could not be answered to.
  const isLost = outcome.outcome === 'error' && outcome.error.code === 'lost';
  const over = decisions.filter((row) => isOpen(row) && !awaited.includes(row)).map(({ request: { id } }) => id);
  await settleDecisions(sql, key, over, isLost ? 'expired' : 'cancelled');
  const isHopeless = awaited.some(({ decision: { state } }) => state === 'cancelled' || state === 'expired');
  // Whoever asked it to stop, to replace it for one, does not want it to go on as another run.
  const isStopped = request.stop && awaited.length > 0;
  if (isHopeless) await abandonRun(sql, ended, 'expired', version);
  else if (isStopped) await abandonRun(sql, ended, request.stop_reason ?? 'stopped', version);
  tell({ type: 'flushed', process: request.process });
  if (!continuation || isStopped || !isAnswered(outcome, decisions)) return undefined;
  return (await continueRun(context, sql, ended, continuation, version)).ownership;
}

/** The content with all the answers that have been given; those it holds already stay. */
function withAnswers(decisions: readonly DecisionRow[], content: MessageContent): MessageContent {
  let answered = content;
  for (const { decision } of decisions) if (decision.answer) answered = applyAnswer(answered, decision.answer);
  return answered;
}

/** The acknowledgement was lost: the owner hears again what it did, and owns the continuation if nobody took it since. */
async function repeated(
  sql: Sql,
  run: RunRow,
  epoch: number,
  request: FinishRequest,
): Promise<Ownership | undefined | 'fenced'> {
  const isSame =
    run.record.endedAt !== undefined &&
    run.epoch === epoch &&
    run.nextSeq === request.nextSeq + request.events.length &&
    equalJson(run.record.outcome as Json, keepJson(request.outcome));
  if (!isSame) return 'fenced';
  const next = await continuationOf(sql, run);
  return next && isUntouched(next, request.continuation?.process) ? ownershipOf(next) : undefined;
}
