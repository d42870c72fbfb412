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

import { referBlobs } from '../blobs/blob-refs.ts';
import { moveFiles } from '../blobs/move-files.ts';
import { nextVersion } from '../conversations/thread-row.ts';
import { insertMessages } from '../conversations/write-messages.ts';
import type { Sql } from '../database.ts';
import { transact, type Tell } from '../transact.ts';
import { abandonRun } from './abandon-run.ts';
import { insertRun } from './new-run.ts';
import { pausedBefore } from './paused-before.ts';
import { placeholderOf } from './placeholder.ts';
import type { RegistryContext } from './registry-context.ts';
import { isClaimed, isUntouched, ownershipOf, selectRun, type RunRow } from './run-record.ts';
import { lookAtThread, type Look } from './start-look.ts';
import { startAtOnce, type PreparedStart } from './start-at-once.ts';
import { requestStop } from './stop-run.ts';

const maxQueued = 8;

/** The key of the request was used by another start, which was committed meanwhile. */
class KeyTaken extends StoreError {
  constructor() {
    super('key-reused', 'The key is in use.');
  }
}

/** Rolls the transaction back: the call starts and writes nothing. A `StoreError`, so the connection stays in use. */
class NotStarted extends StoreError {
  readonly result: StartResult;

  constructor(result: StartResult) {
    super('busy', 'The run is not started.');
    this.result = result;
  }
}

/**
 * Two ways to do the same: one statement, which most starts need; and where there is something to decide, a transaction, in
 * which everything that may refuse the run is looked at before anything is written but the row that is locked.
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
  const started = await startAtOnce(context, scope, prepared);
  if (started) return started;
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the second time finds the other start
      return await transact(context.database, context.hints, (sql, tell) => start(context, sql, tell, scope, prepared));
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
  tell: Tell,
  scope: Scope,
  request: PreparedStart,
): Promise<Started | Queued> {
  const { key, threadId, user, process } = request;
  const look = await lookAtThread(sql, scope, { ...request, uuid: context.generateId() });
  if (look.earlier) throw new NotStarted(await attach(sql, look, look.earlier, request));
  if (look.namesake) {
    const run = await recordOf(sql, look.namesake);
    if (isRepeated(run, request)) throw new NotStarted(await repeated(sql, look, run, request));
    refuse({ type: 'refused', reason: 'run-exists', run: run.record });
  }
  checkMessages(look, request);
  if (look.parentId !== undefined && !look.hasParent) refuse({ type: 'refused', reason: 'not-found', what: 'parent' });
  const blocker = look.blocker === undefined ? undefined : await recordOf(sql, look.blocker);
  if (blocker) refuseBusy(look, request, blocker);
  const paused = await pausedBefore(sql, look.threadUuid, look.parentId);
  if (paused && request.pending === 'reject') refuse({ type: 'refused', reason: 'pending', decisions: paused.open });

  const { threadUuid } = look;
  const { version, base } = await nextVersion(sql, threadUuid, { messages: user ? 2 : 1, headId: request.messageId });
  tell({ type: 'thread', scope, threadId });
  const superseded: Decision[] = paused ? await abandonRun(sql, paused.run, 'superseded', version) : [];
  const asked = user && userMessage(context, look, user);
  if (asked) {
    await insertMessages(sql, { threadUuid, base, version }, [asked]);
    await referBlobs(sql, scope, threadUuid, [asked]);
  }
  const placeholder = placeholderOf(request, look.now, asked?.id ?? look.parentId);
  await insertMessages(sql, { threadUuid, base: asked ? base + 1 : base, version }, [placeholder], key);
  await insertRun(sql, {
    key,
    threadUuid,
    messageId: request.messageId,
    runId: request.runId,
    agent: request.agent,
    ...(request.input !== undefined && { input: request.input }),
    ...(request.createdBy !== undefined && { createdBy: request.createdBy }),
    ...(!blocker && { process }),
  });
  await rememberRequest(sql, scope, request);
  const run = await recordOf(sql, key);
  if (!blocker) {
    const all = look.isNewThread && { messages: [...(asked ? [asked] : []), placeholder] };
    return { type: 'started', ...ownershipOf(run), superseded, ...all };
  }
  const takenOver = await makeWay(sql, tell, request, look, blocker);
  const behind = takenOver?.run ?? blocker.record;
  return { type: 'queued', run: run.record, behind, superseded, ...(takenOver && { takenOver }) };
}

function refuse(refused: Refused): never {
  throw new NotStarted(refused);
}

async function recordOf(sql: Sql, key: string): Promise<RunRow> {
  return (await selectRun(sql, key))!;
}

async function attach(
  sql: Sql,
  look: Look,
  earlier: NonNullable<Look['earlier']>,
  request: StartRequest,
): Promise<StartResult> {
  const run = earlier.run === null ? null : await recordOf(sql, earlier.run);
  if (!run || earlier.hash !== request.idempotency?.hash) {
    return { type: 'refused', reason: 'key-reused', run: run && run.record };
  }
  return isRepeated(run, request) ? repeated(sql, look, run, request) : { type: 'attached', run: run.record };
}

function isRepeated({ record }: RunRow, { runId, threadId, messageId }: StartRequest): boolean {
  return record.runId === runId && record.threadId === threadId && record.messageId === messageId;
}

/** The result of a start whose reply was lost. */
async function repeated(
  sql: Sql,
  look: Look,
  run: RunRow,
  { process, messageId }: StartRequest,
): Promise<Started | Queued | Attached> {
  const { record } = run;
  if (record.state === 'queued') {
    const blocker = look.blocker === undefined ? run : await recordOf(sql, look.blocker);
    const takenOver = isClaimed(blocker, process, messageId) && { takenOver: ownershipOf(blocker) };
    return { type: 'queued', run: record, behind: blocker.record, superseded: [], ...takenOver };
  }
  if (isUntouched(run, process)) return { type: 'started', ...ownershipOf(run), superseded: [] };
  return { type: 'attached', run: record };
}

function checkMessages(look: Look, { user, threadId, messageId }: PreparedStart): void {
  if (user && user.threadId !== threadId) {
    const text = `The message is of thread "${user.threadId}", the run of "${threadId}". Give both the same threadId.`;
    throw new StoreError('invalid', text);
  }
  if (look.isAnswerIdTaken || user?.id === messageId) {
    throw new StoreError('invalid', `messageId "${messageId}" is taken. Make a new id for every answer.`);
  }
}

function refuseBusy(look: Look, { busy }: StartRequest, { record }: RunRow): void {
  if (busy === 'reject' && !look.isBlockerDead) refuse({ type: 'refused', reason: 'busy', live: record });
  if (look.queued >= maxQueued) refuse({ type: 'refused', reason: 'queue-full', live: record });
}

/** An edit may come with the id of the message that it edits: both are kept, and the new one gets an id of ours. */
function userMessage(context: RegistryContext, look: Look, message: CanonicalMessage): CanonicalMessage {
  const { parentId: _, ...rest } = message;
  return {
    status: 'complete',
    ...rest,
    ...(look.isUserIdTaken && { id: context.generateId(), clientId: message.id }),
    ...(look.parentId !== undefined && { parentId: look.parentId }),
  };
}

/** A key is remembered for a day; after that it may be used again. */
async function rememberRequest(sql: Sql, scope: Scope, { idempotency, key }: PreparedStart): Promise<void> {
  if (!idempotency) return;
  const [remembered] = await sql.query(
    `insert into intertie.requests as q (scope, key, hash, run_id) values ($1, $2, $3, $4::text::uuid)
      on conflict (scope, key) do update set hash = excluded.hash, run_id = excluded.run_id, created_at = now()
        where q.created_at <= now() - interval '1 day'
      returning 1 as remembered`,
    [scope, idempotency.key, idempotency.hash, key],
  );
  if (!remembered) throw new KeyTaken();
}

/** A dead process's run is the caller's to end; a live one is asked to stop if the new run replaces it. */
async function makeWay(
  sql: Sql,
  tell: Tell,
  { process, busy, messageId }: StartRequest,
  look: Look,
  blocker: RunRow,
): Promise<Ownership | undefined> {
  const { key } = blocker.record;
  if (look.isBlockerDead) {
    // Its row is locked since we have looked at it.
    await sql.query(
      'update intertie.run_live set epoch = epoch + 1, process = $2, claim = $3 where run_id = $1::text::uuid',
      [key, process, messageId],
    );
    return ownershipOf(await recordOf(sql, key));
  }
  if (blocker.isLive && busy === 'replace') await requestStop(sql, tell, key, 'replaced');
  return undefined;
}
