import { createHash } from 'node:crypto';

import { encodeMessage, StoreError, type CanonicalMessage } from '@intertie/core';
import {
  checkStoreId,
  type MessageInput,
  type SavedMessages,
  type SaveMessages,
  type Scope,
  isStoreText,
  readMessage,
  readSaveMode,
  type SaveMode,
} from '@intertie/core/store';

import { hasLargeFiles, moveFiles } from '../blobs/move-files.ts';
import { sqlState, type Sql } from '../database.ts';
import { appendMessages } from './append-messages.ts';
import type { Context } from './context.ts';
import { planAsNew, planMessages, type IncomingMessage } from './plan-messages.ts';
import { findRequest, insertSaveRequest, type Request } from './requests.ts';
import { readStoredMessages } from './stored-messages.ts';
import { lockThread } from './thread-row.ts';

type Call = {
  scope: Scope;
  threads: Array<{ threadId: string; incoming: IncomingMessage[] }>;
  mode: SaveMode;
  expectedVersion?: number;
  request?: Request;
};

/** State of a thread after the call: its messages that occur in the call, and whether the call changed it. */
type Result = { threadId: string; version: number; messages: Map<string, CanonicalMessage>; isChanged: boolean };

/** Number of optimistic attempts before the thread is locked. */
const tries = 3;

/**
 * Tries three ways, the cheapest first: one statement that assumes that all messages are new; a read and one statement that
 * requires the version that was read; and the same under the lock of the thread.
 */
export async function saveMessages(context: Context, scope: Scope, request: SaveMessages): Promise<SavedMessages> {
  const call = await readCall(context, scope, request);
  const saved = await saveAsNew(context, call);
  if (saved) return saved;
  const results = (await saveByVersion(context, call)) ?? (await saveLocked(context, call));
  for (const { threadId, isChanged } of results) {
    if (isChanged) context.hints.publish({ type: 'thread', scope, threadId });
  }
  const byThread = new Map(results.map((result) => [result.threadId, result]));
  return {
    messages: request.messages.flatMap(({ threadId, id }) => {
      const message = byThread.get(threadId)?.messages.get(id);
      return message ? [message] : [];
    }),
    version: byThread.get(request.messages.at(-1)?.threadId ?? '')?.version ?? 0,
  };
}

async function readCall(context: Context, scope: Scope, request: SaveMessages): Promise<Call> {
  const { expectedVersion, operationKey } = request;
  const incoming = request.messages.map((input) => ({ message: readMessage(input), parentId: input.parentId }));
  if (operationKey !== undefined) checkStoreId('operationKey', operationKey);
  const mode = readSaveMode(request);
  const hash = operationKey === undefined ? '' : hashMessages(request.messages, mode);
  const large = incoming.filter(({ message }) => hasLargeFiles(message.content));
  await Promise.all(
    large.map(async ({ message }) => void (message.content = await moveFiles(context.blobs, scope, message.content))),
  );
  const threads = new Map<string, IncomingMessage[]>();
  for (const one of incoming) {
    const { threadId } = one.message;
    const list = threads.get(threadId);
    if (list) list.push(one);
    else threads.set(threadId, [one]);
  }
  if (expectedVersion !== undefined && threads.size !== 1) {
    const text = `expectedVersion applies to one thread, but the call has messages of ${threads.size}. Make one call per thread.`;
    throw new StoreError('invalid', text);
  }
  return {
    scope,
    mode,
    threads: Array.from(threads, ([threadId, list]) => ({ threadId, incoming: list })),
    ...(expectedVersion !== undefined && { expectedVersion }),
    ...(operationKey !== undefined && { request: { key: operationKey, hash } }),
  };
}

function hashMessages(messages: readonly MessageInput[], mode: SaveMode): string {
  const text = JSON.stringify(messages.map((message) => encodeMessage(message)));
  return createHash('sha256')
    .update(mode === 'merge' ? text : `${mode} ${text}`)
    .digest('hex');
}

async function saveAsNew({ database, generateId, hints }: Context, call: Call): Promise<SavedMessages | undefined> {
  const [thread, another] = call.threads;
  if (!thread || another) return undefined;
  const { threadId, incoming } = thread;
  const draft = planAsNew(incoming);
  if (!draft) return undefined;
  const { inserts: messages, first } = draft;
  const appended = await ignoreUniqueViolation(() =>
    appendMessages(database, { ...call, ...draft, threadId, uuid: generateId(), ...getResource(incoming) }),
  );
  if (!appended) return undefined;
  if (first === 'head' && appended.parentId !== null) messages[0]!.parentId = appended.parentId;
  hints.publish({ type: 'thread', scope: call.scope, threadId });
  return { messages, version: appended.version };
}

async function saveByVersion(context: Context, call: Call): Promise<Result[] | undefined> {
  const [thread, another] = call.threads;
  if (!thread || another) return undefined;
  for (let n = 0; n < tries; n++) {
    const results = await ignoreUniqueViolation(async () => {
      const repeated = await findRepeated(context.database, call);
      if (repeated) return repeated;
      const result = await saveThread(context, context.database, call, thread, call.request);
      return result && [result];
    });
    if (results) return results;
  }
  return undefined;
}

/** Locks several threads in a fixed order to prevent deadlocks. */
async function saveLocked(context: Context, call: Call): Promise<Result[]> {
  const ordered = call.threads.toSorted((a, b) => (a.threadId < b.threadId ? -1 : 1));
  const save = (): Promise<Result[]> =>
    context.database.transaction(async (sql) => {
      const repeated = await findRepeated(sql, call);
      if (repeated) return repeated;
      const results: Result[] = [];
      for (const thread of ordered) {
        const { threadId, incoming } = thread;
        await lockThread(sql, {
          scope: call.scope,
          key: threadId,
          uuid: context.generateId(),
          ...getResource(incoming),
        });
        results.push((await saveThread(context, sql, call, thread))!);
      }
      const threadIds = ordered.map(({ threadId }) => threadId);
      if (call.request) await insertSaveRequest(sql, call.scope, call.request, threadIds);
      return results;
    });
  // After a unique violation the second attempt finds the concurrent call with the same key.
  return (await ignoreUniqueViolation(save)) ?? save();
}

/** Returns undefined if the thread has changed since it was read. */
async function saveThread(
  { generateId }: Context,
  sql: Sql,
  call: Call,
  { threadId, incoming }: Call['threads'][number],
  request?: Request,
): Promise<Result | undefined> {
  const { scope, expectedVersion } = call;
  const asked = incoming.flatMap(({ message, parentId }) => [message.id, ...(isMessageId(parentId) ? [parentId] : [])]);
  const { version, headId, messages } = await readStoredMessages(sql, scope, threadId, asked);
  const { inserts, updates } = planMessages(threadId, headId, messages, incoming, call.mode);
  if (expectedVersion !== undefined && version !== expectedVersion) {
    const text = `Thread "${threadId}" is at version ${version}, not ${expectedVersion}. Read the changes and try again.`;
    throw new StoreError('version-conflict', text, { version });
  }
  const stored = Array.from(messages.values(), ({ message }) => message);
  if (inserts.length + updates.length === 0) {
    if (request && !(await insertSaveRequest(sql, scope, request, [threadId]))) return undefined;
    return { threadId, version, messages: byId(stored), isChanged: false };
  }
  const appended = await appendMessages(sql, {
    scope,
    threadId,
    uuid: generateId(),
    ...getResource(incoming),
    expectedVersion: version,
    first: 'given',
    inserts,
    updates,
    ...(request && { request }),
  });
  if (!appended) return undefined;
  return {
    threadId,
    version: appended.version,
    messages: byId([...stored, ...inserts, ...updates]),
    isChanged: true,
  };
}

/** Finds an earlier call with the same key and returns the current state. Throws if that call had another body. */
async function findRepeated(sql: Sql, { scope, request, threads }: Call): Promise<Result[] | undefined> {
  const earlier = request && (await findRequest(sql, scope, request.key));
  if (!earlier) return undefined;
  if (earlier.hash !== request.hash || earlier.run !== undefined) {
    const text = 'The operationKey was used for another call. Use a new key for each request body.';
    throw new StoreError('key-reused', text);
  }
  const results: Result[] = [];
  for (const { threadId, incoming } of threads) {
    const ids = incoming.map(({ message }) => message.id);
    const { version, messages } = await readStoredMessages(sql, scope, threadId, ids);
    const left = [...messages.values()].filter(({ isDeleted }) => !isDeleted).map(({ message }) => message);
    results.push({ threadId, version, messages: byId(left), isChanged: false });
  }
  return results;
}

const uniqueViolation = '23505';

/** Returns undefined on a unique violation: an id or an operation key was not new. */
async function ignoreUniqueViolation<Value>(write: () => Promise<Value | undefined>): Promise<Value | undefined> {
  try {
    return await write();
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
}

/** Excludes values that cannot be message ids, which Postgres may reject. */
function isMessageId(parentId: string | null | undefined): parentId is string {
  return parentId !== undefined && parentId !== null && isStoreText(parentId);
}

function getResource(incoming: readonly IncomingMessage[]): { resourceId?: string } {
  const resourceId = incoming[0]?.message.resourceId;
  return resourceId === undefined ? {} : { resourceId };
}

function byId(messages: readonly CanonicalMessage[]): Map<string, CanonicalMessage> {
  return new Map(messages.map((message) => [message.id, message]));
}
