import { StoreError, type CanonicalMessage } from '@intertie/core';
import type {
  Attached,
  Decision,
  Ownership,
  Queued,
  Refused,
  Scope,
  Started,
  StartRequest,
  StartResult,
} from '@intertie/core/store';
import { checkStart, readJson, readMessage } from '@intertie/core/store';

import { referenceBlobs } from '../blobs/blob-refs.ts';
import { moveFiles } from '../blobs/move-files.ts';
import { nextVersion } from '../conversations/thread-row.ts';
import { insertMessages } from '../conversations/write-messages.ts';
import type { Sql } from '../database.ts';
import { transact, type PublishOnCommit } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { insertRun } from './insert-run.ts';
import { findPausedRun } from './find-paused-run.ts';
import { createPlaceholder } from './create-placeholder.ts';
import type { RegistryContext } from './registry-context.ts';
import { isClaimed, isUntouched, toOwnership, selectRun, type RunRow } from './run-record.ts';
import { readStartPreconditions, type StartPreconditions } from './read-start-preconditions.ts';
import { startFastPath, type PreparedStart } from './start-fast-path.ts';
import { requestStop } from './stop-run.ts';

const maxQueued = 8;

/** Another start has used the idempotency key and was committed in the meantime. */
class KeyTaken extends StoreError {
  constructor() {
    super('key-reused', 'The idempotency key is in use.');
  }
}

/** Rolls the transaction back and carries the result. A `StoreError`, so that the connection is kept; its code is never seen. */
class NotStarted extends StoreError {
  readonly result: StartResult;

  constructor(result: StartResult) {
    super('busy', 'The run was not started.');
    this.result = result;
  }
}

/**
 * Starts a run: with one statement in the common case, otherwise in a transaction that checks every precondition before it
 * writes anything but the locked thread row.
 */
export async function startRun(context: RegistryContext, scope: Scope, request: StartRequest): Promise<StartResult> {
  checkStart(request);
  const user = request.message && (await readUserMessage(context, scope, request.message));
  const input = request.input === undefined ? {} : { input: readJson(request.input, 'input') };
  const metadata = request.thread?.metadata && readJson(request.thread.metadata, 'metadata');
  const prepared: PreparedStart = {
    ...request,
    ...input,
    thread: { ...request.thread, ...(metadata && { metadata }) },
    user,
    key: context.generateId(),
  };
  const started = await startFastPath(context, scope, prepared);
  if (started) return started;
  for (;;) {
    try {
      return await transact(context.database, context.hints, (sql, publish) =>
        start(context, sql, publish, scope, prepared),
      );
    } catch (error) {
      if (error instanceof NotStarted) return error.result;
      if (!(error instanceof KeyTaken)) throw error;
    }
  }
}

async function readUserMessage(
  { blobs }: RegistryContext,
  scope: Scope,
  input: NonNullable<StartRequest['message']>,
): Promise<CanonicalMessage> {
  const message = readMessage(input);
  return { ...message, content: await moveFiles(blobs, scope, message.content) };
}

async function start(
  context: RegistryContext,
  sql: Sql,
  publish: PublishOnCommit,
  scope: Scope,
  request: PreparedStart,
): Promise<Started | Queued> {
  const { key, threadId, user, process } = request;
  const thread = await readStartPreconditions(sql, scope, { ...request, uuid: context.generateId() });
  if (thread.earlier) throw new NotStarted(await attach(sql, thread, thread.earlier, request));
  if (thread.sameIdRun) {
    const run = await getRun(sql, thread.sameIdRun);
    if (isRepeated(run, request)) throw new NotStarted(await readRepeatedStart(sql, thread, run, request));
    refuse({ type: 'refused', reason: 'run-exists', run: run.record });
  }
  checkMessages(thread, request);
  if (thread.parentId !== undefined && !thread.hasParent)
    refuse({ type: 'refused', reason: 'not-found', what: 'parent' });
  const blocker = thread.blocker === undefined ? undefined : await getRun(sql, thread.blocker);
  if (blocker) refuseBusy(thread, request, blocker);
  const paused = await findPausedRun(sql, thread.threadUuid, thread.parentId);
  if (paused && request.pending === 'reject') refuse({ type: 'refused', reason: 'pending', decisions: paused.open });

  const { threadUuid } = thread;
  const { version, base } = await nextVersion(sql, threadUuid, { messages: user ? 2 : 1, headId: request.messageId });
  publish({ type: 'thread', scope, threadId });
  const superseded: Decision[] = paused ? await abandonRun(sql, paused.run, 'superseded', version) : [];
  const userMessage = user && prepareUserMessage(context, thread, user);
  if (userMessage) {
    await insertMessages(sql, { threadUuid, base, version }, [userMessage]);
    await referenceBlobs(sql, scope, threadUuid, [userMessage]);
  }
  const placeholder = createPlaceholder(request, thread.now, userMessage?.id ?? thread.parentId);
  await insertMessages(sql, { threadUuid, base: userMessage ? base + 1 : base, version }, [placeholder], key);
  await insertRun(sql, {
    key,
    threadUuid,
    messageId: request.messageId,
    runId: request.runId,
    agent: request.agent,
    ...(request.input !== undefined && { input: request.input }),
    ...(request.createdBy !== undefined && { createdBy: request.createdBy }),
    ...(request.branchKey !== undefined && { branchKey: request.branchKey }),
    ...(!blocker && { process }),
  });
  await insertRequest(sql, scope, request);
  const run = await getRun(sql, key);
  if (!blocker) {
    const messages = userMessage ? [userMessage, placeholder] : [placeholder];
    const created = thread.isNewThread && { isNewThread: true as const, messages };
    return { type: 'started', ...toOwnership(run), superseded, ...created };
  }
  const takenOver = await unblockThread(sql, publish, request, thread, blocker);
  const behind = takenOver?.run ?? blocker.record;
  return { type: 'queued', run: run.record, behind, superseded, ...(takenOver && { takenOver }) };
}

function refuse(refused: Refused): never {
  throw new NotStarted(refused);
}

async function getRun(sql: Sql, key: string): Promise<RunRow> {
  return (await selectRun(sql, key))!;
}

async function attach(
  sql: Sql,
  thread: StartPreconditions,
  earlier: NonNullable<StartPreconditions['earlier']>,
  request: StartRequest,
): Promise<StartResult> {
  const run = earlier.run === null ? null : await getRun(sql, earlier.run);
  if (!run || earlier.hash !== request.idempotency?.hash) {
    return { type: 'refused', reason: 'key-reused', run: run && run.record };
  }
  return isRepeated(run, request)
    ? readRepeatedStart(sql, thread, run, request)
    : { type: 'attached', run: run.record };
}

function isRepeated({ record }: RunRow, { runId, threadId, messageId }: StartRequest): boolean {
  return record.runId === runId && record.threadId === threadId && record.messageId === messageId;
}

/** Returns the result of a start whose reply was lost. */
async function readRepeatedStart(
  sql: Sql,
  thread: StartPreconditions,
  run: RunRow,
  { process, messageId }: StartRequest,
): Promise<Started | Queued | Attached> {
  const { record } = run;
  if (record.state === 'queued') {
    const blocker = thread.blocker === undefined ? run : await getRun(sql, thread.blocker);
    const takenOver = isClaimed(blocker, process, messageId) && { takenOver: toOwnership(blocker) };
    return { type: 'queued', run: record, behind: blocker.record, superseded: [], ...takenOver };
  }
  if (isUntouched(run, process)) return { type: 'started', ...toOwnership(run), superseded: [] };
  return { type: 'attached', run: record };
}

function checkMessages(thread: StartPreconditions, { user, threadId, messageId }: PreparedStart): void {
  if (user && user.threadId !== threadId) {
    const text = `The message belongs to thread "${user.threadId}", the run to "${threadId}". Use the same threadId.`;
    throw new StoreError('invalid', text);
  }
  if (thread.isAnswerIdTaken || user?.id === messageId) {
    throw new StoreError('invalid', `messageId "${messageId}" is already used. Create a new id for every answer.`);
  }
}

function refuseBusy(thread: StartPreconditions, { busy, resumable }: StartRequest, { record }: RunRow): void {
  const isLive = !thread.isBlockerDead || resumable?.includes(record.agent);
  if (busy === 'reject' && isLive) refuse({ type: 'refused', reason: 'busy', live: record });
  if (thread.queued >= maxQueued) refuse({ type: 'refused', reason: 'queue-full', live: record });
}

/** An edit may arrive with the id of the edited message. Both are stored, so the new one gets a generated id. */
function prepareUserMessage(
  context: RegistryContext,
  thread: StartPreconditions,
  message: CanonicalMessage,
): CanonicalMessage {
  const rest = { ...message };
  delete rest.parentId;
  return {
    status: 'complete',
    ...rest,
    ...(thread.isUserIdTaken && { id: context.generateId(), clientId: message.id }),
    ...(thread.parentId !== undefined && { parentId: thread.parentId }),
  };
}

/** Records the idempotency key for a day; after that it may be used again. */
async function insertRequest(sql: Sql, scope: Scope, { idempotency, key }: PreparedStart): Promise<void> {
  if (!idempotency) return;
  const [inserted] = await sql.query(
    `insert into intertie.requests as q (scope, key, hash, run_id) values ($1, $2, $3, $4::text::uuid)
      on conflict (scope, key) do update set hash = excluded.hash, run_id = excluded.run_id, created_at = now()
        where q.created_at <= now() - interval '1 day'
      returning 1 as inserted`,
    [scope, idempotency.key, idempotency.hash, key],
  );
  if (!inserted) throw new KeyTaken();
}

/** Takes over the blocking run of a dead process, or requests a stop of a live one that the new run replaces. */
async function unblockThread(
  sql: Sql,
  publish: PublishOnCommit,
  { process, busy, messageId }: StartRequest,
  thread: StartPreconditions,
  blocker: RunRow,
): Promise<Ownership | undefined> {
  const { key } = blocker.record;
  if (thread.isBlockerDead) {
    // `readStartPreconditions` has locked the row.
    await sql.query(
      `update intertie.run_live set epoch = epoch + 1, process = $2, claim = $3, released_at = null,
          attempts = attempts + case when released_at is null then 1 else 0 end
        where run_id = $1::text::uuid`,
      [key, process, messageId],
    );
    return toOwnership(await getRun(sql, key));
  }
  if (blocker.isLive && busy === 'replace') await requestStop(sql, publish, key, 'replaced');
  return undefined;
}
