import type { CanonicalMessage } from '../../event/message.ts';
import type { Decision, Ownership, Refused, StartRequest, StartResult } from '../registry.ts';
import type { Scope } from '../scope.ts';
import { StoreError } from '../store-error.ts';
import { checkStart } from '../rules/check-request.ts';
import { readJson, readMessage } from '../rules/read-message.ts';
import { addMessage, createThread, findMessage, findThread, nextVersion } from './conversation.ts';
import { abandon, decisionOf, isOpen } from './decision-row.ts';
import { nextQueued } from './next-queued.ts';
import { findRequest, rememberRequest } from './requests.ts';
import {
  goLive,
  isClaimed,
  isDead,
  isUntouched,
  own,
  ownershipOf,
  queueRun,
  recordOf,
  requestStop,
} from './run-row.ts';
import type { MessageRow, RunRow, Tables, ThreadRow } from './tables.ts';

const maxQueued = 8;

/** Everything that may refuse the run is looked at before anything is written. */
export function startRun(tables: Tables, scope: Scope, request: StartRequest): StartResult {
  const { threadId, runId, idempotency } = request;
  checkStart(request);
  const message = request.message && readMessage(request.message);
  const input = request.input === undefined ? undefined : readJson(request.input, 'input');
  const introduction = readIntroduction(request);

  const earlier = idempotency && findRequest(tables, scope, idempotency.key);
  if (earlier) {
    const run = earlier.run && recordOf(earlier.run);
    if (!run || earlier.hash !== idempotency.hash) return { type: 'refused', reason: 'key-reused', run };
    return isRepeated(earlier.run!, request) ? repeated(earlier.run!, request) : { type: 'attached', run };
  }
  const thread = findThread(tables, scope, threadId);
  const namesake = thread?.runs.get(runId);
  if (namesake && isRepeated(namesake, request)) return repeated(namesake, request);
  if (namesake) return { type: 'refused', reason: 'run-exists', run: recordOf(namesake) };

  checkMessages(thread, request, message);
  const parentId = parentOf(thread, request);
  const parent = parentId === undefined ? undefined : findMessage(thread, parentId);
  if (parentId !== undefined && !parent) return { type: 'refused', reason: 'not-found', what: 'parent' };

  const blocker = thread && (thread.live ?? nextQueued(thread));
  const refused = refuseBusy(tables, request, blocker) ?? refusePending(request, parent);
  if (refused) return refused;

  const at = thread ?? createThread(tables, scope, { id: threadId, ...resourceOf(request) });
  if (!thread) Object.assign(at, introduction);
  const version = nextVersion(tables, at);
  const superseded = supersede(tables, parent, version);
  const user = message && addMessage(at, userMessage(tables, at, message, parentId), version);
  const placeholder = addMessage(at, placeholderOf(tables, request, user?.message.id ?? parentId), version);
  const run = queueRun(tables, placeholder, {
    runId,
    agent: request.agent,
    ...(input !== undefined && { input }),
    ...(request.createdBy !== undefined && { createdBy: request.createdBy }),
  });
  if (idempotency) {
    rememberRequest(tables, scope, idempotency.key, { hash: idempotency.hash, run, messages: [placeholder] });
  }
  if (!blocker) {
    const all = thread
      ? {}
      : { messages: [...(user ? [user] : []), placeholder].map((row) => structuredClone(row.message)) };
    return { type: 'started', ...goLive(tables, run, request.process), superseded, ...all };
  }
  const takenOver = makeWay(tables, request, blocker);
  const behind = recordOf(blocker);
  return { type: 'queued', run: recordOf(run), behind, superseded, ...(takenOver && { takenOver }) };
}

function isRepeated({ runId, thread, message }: RunRow, request: StartRequest): boolean {
  return runId === request.runId && thread.id === request.threadId && message.message.id === request.messageId;
}

/** The result of a start whose reply was lost. */
function repeated(run: RunRow, { process, messageId }: StartRequest): StartResult {
  if (run.state === 'queued') {
    const { live } = run.thread;
    const takenOver = live && isClaimed(live, process, messageId) ? { takenOver: ownershipOf(live) } : {};
    const behind = recordOf(live ?? nextQueued(run.thread) ?? run);
    return { type: 'queued', run: recordOf(run), behind, superseded: [], ...takenOver };
  }
  if (isUntouched(run, process)) return { type: 'started', ...ownershipOf(run), superseded: [] };
  return { type: 'attached', run: recordOf(run) };
}

function readIntroduction({ thread: { title, metadata } = {} }: StartRequest): Pick<ThreadRow, 'title' | 'metadata'> {
  return {
    ...(title !== undefined && { title }),
    ...(metadata && { metadata: readJson(metadata, 'metadata') }),
  };
}

/** Cancels what the conversation before a run still waits for: the run goes on without. */
export function supersede(tables: Tables, parent: MessageRow | undefined, version: number): Decision[] {
  const run = pausedBefore(parent);
  return run ? abandon(tables, run, 'superseded', version) : [];
}

/** The run of the last answer up the branch, if it waits for decisions. What a live run asks is a matter of `busy`. */
function pausedBefore(parent: MessageRow | undefined): RunRow | undefined {
  let row = parent;
  while (row && row.message.role !== 'assistant') {
    const { parentId } = row.message;
    row = parentId === undefined ? undefined : findMessage(row.thread, parentId);
  }
  return row?.run?.state === 'paused' && openOf(row.run).length > 0 ? row.run : undefined;
}

function openOf(run: RunRow): Decision[] {
  return [...run.decisions.values()].filter(isOpen).map(decisionOf);
}

function checkMessages(thread: ThreadRow | undefined, request: StartRequest, message?: CanonicalMessage): void {
  if (message && message.threadId !== request.threadId) {
    const text = `The message is of thread "${message.threadId}", the run of "${request.threadId}". Give both the same threadId.`;
    throw new StoreError('invalid', text);
  }
  if (thread?.messages.has(request.messageId) || message?.id === request.messageId) {
    throw new StoreError('invalid', `messageId "${request.messageId}" is taken. Make a new id for every answer.`);
  }
}

function parentOf(thread: ThreadRow | undefined, { parentId, message }: StartRequest): string | undefined {
  const given = parentId === undefined ? message?.parentId : parentId;
  return given === undefined ? thread?.headId : (given ?? undefined);
}

function refuseBusy(tables: Tables, { busy }: StartRequest, blocker: RunRow | undefined): Refused | undefined {
  if (!blocker) return undefined;
  if (busy === 'reject' && !isDead(tables, blocker)) {
    return { type: 'refused', reason: 'busy', live: recordOf(blocker) };
  }
  const queued = [...blocker.thread.runs.values()].filter((run) => run.state === 'queued').length;
  return queued < maxQueued ? undefined : { type: 'refused', reason: 'queue-full', live: recordOf(blocker) };
}

function refusePending({ pending }: StartRequest, parent: MessageRow | undefined): Refused | undefined {
  const run = pending === 'reject' ? pausedBefore(parent) : undefined;
  return run && { type: 'refused', reason: 'pending', decisions: openOf(run) };
}

/** A dead process's run is the caller's to end; a live one is asked to stop if the new run replaces it. */
function makeWay(tables: Tables, request: StartRequest, blocker: RunRow): Ownership | undefined {
  if (isDead(tables, blocker)) return own(blocker, request.process, request.messageId);
  if (blocker.live && request.busy === 'replace') requestStop(tables, blocker, 'replaced');
  return undefined;
}

function resourceOf({ resourceId, message }: StartRequest): { resourceId?: string } {
  const id = resourceId ?? message?.resourceId;
  return id === undefined ? {} : { resourceId: id };
}

/** An edit may come with the id of the message that it edits: both are kept, and the new one gets an id of ours. */
function userMessage(
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

/** There from the start: a reload shows it, and whatever is queued behind it has a parent. */
function placeholderOf(tables: Tables, request: StartRequest, parentId: string | undefined): CanonicalMessage {
  return {
    id: request.messageId,
    threadId: request.threadId,
    role: 'assistant',
    type: 'text',
    content: { format: 2, parts: [] },
    createdAt: new Date(tables.now()),
    ...resourceOf(request),
    ...(parentId !== undefined && { parentId }),
    runId: request.runId,
    status: 'streaming',
  };
}
