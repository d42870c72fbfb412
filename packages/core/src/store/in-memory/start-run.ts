import { defined } from '../../json/fields.ts';
import type { CanonicalMessage } from '../../event/message.ts';
import type { Decision, Ownership, Refused, StartRequest, StartResult } from '../registry.ts';
import type { Scope } from '../scope.ts';
import { StoreError } from '../store-error.ts';
import { checkStart } from '../rules/check-request.ts';
import { readJson, readMessage } from '../rules/read-message.ts';
import { addMessage, createThread, findMessage, findThread, nextVersion } from './conversation.ts';
import { abandonRun, toDecision, isOpen } from './decision-row.ts';
import { findNextQueued } from './find-next-queued.ts';
import { findRequest, storeRequest } from './requests.ts';
import {
  activateRun,
  isClaimed,
  isLeaseExpired,
  isUntouched,
  takeDeadRun,
  toOwnership,
  insertRun,
  toRunRecord,
  requestStop,
} from './run-row.ts';
import type { MessageRow, RunRow, Tables, ThreadRow } from './tables.ts';

const maxQueued = 8;

/** Starts a run, queues it, attaches to it or refuses it. Everything that may refuse the run is checked before the first write. */
export function startRun(tables: Tables, scope: Scope, request: StartRequest): StartResult {
  const { threadId, runId, idempotency } = request;
  checkStart(request);
  const message = request.message && readMessage(request.message);
  const input = request.input === undefined ? undefined : readJson(request.input, 'input');
  const threadFields = readThreadFields(request);

  const earlier = idempotency && findRequest(tables, scope, idempotency.key);
  if (earlier) {
    const run = earlier.run && toRunRecord(earlier.run);
    if (!run || earlier.hash !== idempotency.hash) return { type: 'refused', reason: 'key-reused', run };
    return isRepeated(earlier.run!, request) ? readRepeatedStart(earlier.run!, request) : { type: 'attached', run };
  }
  const thread = findThread(tables, scope, threadId);
  const existing = thread?.runs.get(runId);
  if (existing && isRepeated(existing, request)) return readRepeatedStart(existing, request);
  if (existing) return { type: 'refused', reason: 'run-exists', run: toRunRecord(existing) };

  checkMessages(thread, request, message);
  const parentId = resolveParentId(thread, request);
  const parent = parentId === undefined ? undefined : findMessage(thread, parentId);
  if (parentId !== undefined && !parent) return { type: 'refused', reason: 'not-found', what: 'parent' };

  const blocker = thread && (thread.live ?? findNextQueued(thread));
  const refused = refuseBusy(tables, request, blocker) ?? refusePending(request, parent);
  if (refused) return refused;

  const target = thread ?? createThread(tables, scope, { id: threadId, ...getResource(request) });
  if (!thread) Object.assign(target, threadFields);
  const version = nextVersion(tables, target);
  const superseded = supersede(tables, parent, version);
  const user = message && addMessage(target, prepareUserMessage(tables, target, message, parentId), version);
  const placeholder = addMessage(target, createPlaceholder(tables, request, user?.message.id ?? parentId), version);
  const run = insertRun(tables, placeholder, {
    runId,
    agent: request.agent,
    ...defined({ input, createdBy: request.createdBy, branchKey: request.branchKey }),
  });
  if (idempotency) {
    storeRequest(tables, scope, idempotency.key, { hash: idempotency.hash, run, messages: [placeholder] });
  }
  if (!blocker) {
    const started = { type: 'started' as const, ...activateRun(tables, run, request.process), superseded };
    if (thread) return started;
    const rows = user ? [user, placeholder] : [placeholder];
    return { ...started, isNewThread: true, messages: rows.map((row) => structuredClone(row.message)) };
  }
  const takenOver = unblockThread(tables, request, blocker);
  const behind = toRunRecord(blocker);
  return { type: 'queued', run: toRunRecord(run), behind, superseded, ...(takenOver && { takenOver }) };
}

function isRepeated({ runId, thread, message }: RunRow, request: StartRequest): boolean {
  return runId === request.runId && thread.id === request.threadId && message.message.id === request.messageId;
}

/** Returns the result of a start whose reply was lost. */
function readRepeatedStart(run: RunRow, { process, messageId }: StartRequest): StartResult {
  if (run.state === 'queued') {
    const { live } = run.thread;
    const takenOver = live && isClaimed(live, process, messageId) ? { takenOver: toOwnership(live) } : {};
    const behind = toRunRecord(live ?? findNextQueued(run.thread) ?? run);
    return { type: 'queued', run: toRunRecord(run), behind, superseded: [], ...takenOver };
  }
  if (isUntouched(run, process)) return { type: 'started', ...toOwnership(run), superseded: [] };
  return { type: 'attached', run: toRunRecord(run) };
}

function readThreadFields({
  thread: { title, metadata, hidden } = {},
}: StartRequest): Pick<ThreadRow, 'title' | 'metadata' | 'hidden'> {
  return defined({ title, hidden, metadata: metadata ? readJson(metadata, 'metadata') : undefined });
}

/** Cancels the decisions that the conversation before a run still waits for. */
export function supersede(tables: Tables, parent: MessageRow | undefined, version: number): Decision[] {
  const run = findPausedRun(parent);
  return run ? abandonRun(tables, run, 'superseded', version) : [];
}

/** Finds the run of the last answer up the branch, if it waits for decisions. For decisions of a live run, `busy` applies. */
function findPausedRun(parent: MessageRow | undefined): RunRow | undefined {
  let row = parent;
  while (row && row.message.role !== 'assistant') {
    const { parentId } = row.message;
    row = parentId === undefined ? undefined : findMessage(row.thread, parentId);
  }
  return row?.run?.state === 'paused' && listOpenDecisions(row.run).length > 0 ? row.run : undefined;
}

function listOpenDecisions(run: RunRow): Decision[] {
  return [...run.decisions.values()].filter(isOpen).map(toDecision);
}

function checkMessages(thread: ThreadRow | undefined, request: StartRequest, message?: CanonicalMessage): void {
  if (message && message.threadId !== request.threadId) {
    const text = `The message belongs to thread "${message.threadId}", the run to "${request.threadId}". Use the same threadId.`;
    throw new StoreError('invalid', text);
  }
  if (thread?.messages.has(request.messageId) || message?.id === request.messageId) {
    throw new StoreError(
      'invalid',
      `messageId "${request.messageId}" is already used. Create a new id for every answer.`,
    );
  }
}

function resolveParentId(thread: ThreadRow | undefined, { parentId, message }: StartRequest): string | undefined {
  const given = parentId === undefined ? message?.parentId : parentId;
  return given === undefined ? thread?.headId : (given ?? undefined);
}

function refuseBusy(
  tables: Tables,
  { busy, resumable }: StartRequest,
  blocker: RunRow | undefined,
): Refused | undefined {
  if (!blocker) return undefined;
  if (busy === 'reject' && (!isLeaseExpired(tables, blocker) || resumable?.includes(blocker.agent))) {
    return { type: 'refused', reason: 'busy', live: toRunRecord(blocker) };
  }
  const queued = [...blocker.thread.runs.values()].filter((run) => run.state === 'queued').length;
  return queued < maxQueued ? undefined : { type: 'refused', reason: 'queue-full', live: toRunRecord(blocker) };
}

function refusePending({ pending }: StartRequest, parent: MessageRow | undefined): Refused | undefined {
  const run = pending === 'reject' ? findPausedRun(parent) : undefined;
  return run && { type: 'refused', reason: 'pending', decisions: listOpenDecisions(run) };
}

/** Takes over a run whose process is dead. Asks a live one to stop if the new run replaces it. */
function unblockThread(tables: Tables, request: StartRequest, blocker: RunRow): Ownership | undefined {
  if (isLeaseExpired(tables, blocker)) return takeDeadRun(blocker, request.process, request.messageId);
  if (blocker.live && request.busy === 'replace') requestStop(tables, blocker, 'replaced');
  return undefined;
}

function getResource({ resourceId, message }: StartRequest): { resourceId?: string } {
  return defined({ resourceId: resourceId ?? message?.resourceId });
}

/** An edit may have the id of the message that it edits. Both are stored, and the new one gets a generated id. */
function prepareUserMessage(
  tables: Tables,
  thread: ThreadRow,
  message: CanonicalMessage,
  parentId: string | undefined,
): CanonicalMessage {
  const { parentId: _, ...rest } = message;
  return {
    status: 'complete',
    ...rest,
    ...(thread.messages.has(message.id) && { id: tables.generateId(), clientId: message.id }),
    ...(parentId !== undefined && { parentId }),
  };
}

/** Creates the assistant message together with its run: a reload shows it, and runs queued behind it have a parent. */
function createPlaceholder(tables: Tables, request: StartRequest, parentId: string | undefined): CanonicalMessage {
  return {
    id: request.messageId,
    threadId: request.threadId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts: [] },
    createdAt: new Date(tables.now()),
    ...getResource(request),
    ...(parentId !== undefined && { parentId }),
    runId: request.runId,
    status: 'streaming',
  };
}
