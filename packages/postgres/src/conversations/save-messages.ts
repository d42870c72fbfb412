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
  readMode,
  type SaveMode,
} from '@intertie/core/store';

import { hasLargeFiles, moveFiles } from '../blobs/move-files.ts';
import { sqlState, type Sql } from '../database.ts';
import { appendMessages } from './append-messages.ts';
import type { Context } from './context.ts';
import { draftBlindly, draftMessages, type Incoming } from './message-draft.ts';
import { findRequest, rememberSave, type Request } from './requests.ts';
import { readStored } from './stored-messages.ts';
import { lockThread } from './thread-row.ts';

type Call = {
  scope: Scope;
  threads: Array<{ threadId: string; incoming: Incoming[] }>;
  mode: SaveMode;
  expectedVersion?: number;
  request?: Request;
};

/** A thread after the call: those of the call's messages that it has, and whether the call changed it. */
type Result = { threadId: string; version: number; messages: Map<string, CanonicalMessage>; isChanged: boolean };

/** Optimists give up after so many tries, and take the lock. */
const tries = 3;

/**
 * Three ways to do the same, the cheapest first: one statement that takes all messages for new; reading what is there and
 * then one statement that does its work only if the thread is still at that version; and both under the thread's lock.
 */
export async function saveMessages(context: Context, scope: Scope, request: SaveMessages): Promise<SavedMessages> {
  const call = await readCall(context, scope, request);
  const saved = await saveBlindly(context, call);
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
  const mode = readMode(request);
  const hash = operationKey === undefined ? '' : hashOf(request.messages, mode);
  const large = incoming.filter(({ message }) => hasLargeFiles(message.content));
  await Promise.all(
    large.map(async ({ message }) => void (message.content = await moveFiles(context.blobs, scope, message.content))),
  );
  const threads = new Map<string, Incoming[]>();
  for (const one of incoming) {
    const { threadId } = one.message;
    const list = threads.get(threadId);
    if (list) list.push(one);
    else threads.set(threadId, [one]);
  }
  if (expectedVersion !== undefined && threads.size !== 1) {
    const text = `expectedVersion is about one thread, and the call has messages of ${threads.size}. Make one call per thread.`;
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

function hashOf(messages: readonly MessageInput[], mode: SaveMode): string {
  const text = JSON.stringify(messages.map((message) => encodeMessage(message)));
  return createHash('sha256')
    .update(mode === 'merge' ? text : `${mode} ${text}`)
    .digest('hex');
}

async function saveBlindly({ database, generateId, hints }: Context, call: Call): Promise<SavedMessages | undefined> {
  const [thread, another] = call.threads;
  if (!thread || another) return undefined;
  const { threadId, incoming } = thread;
  const draft = draftBlindly(incoming);
  if (!draft) return undefined;
  const { inserts: messages, first } = draft;
  const appended = await orRefused(() =>
    appendMessages(database, { ...call, ...draft, threadId, uuid: generateId(), ...resourceOf(incoming) }),
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
    // oxlint-disable-next-line no-await-in-loop -- each try begins where the one before has failed
    const results = await orRefused(async () => {
      const repeated = await findRepeated(context.database, call);
      if (repeated) return repeated;
      const result = await saveThread(context, context.database, call, thread, call.request);
      return result && [result];
    });
    if (results) return results;
  }
  return undefined;
}

/** Several threads are locked in one order, so that no two calls wait for each other. */
async function saveLocked(context: Context, call: Call): Promise<Result[]> {
  const ordered = call.threads.toSorted((a, b) => (a.threadId < b.threadId ? -1 : 1));
  const save = (): Promise<Result[]> =>
    context.database.transaction(async (sql) => {
      const repeated = await findRepeated(sql, call);
      if (repeated) return repeated;
      const results: Result[] = [];
      for (const thread of ordered) {
        const { threadId, incoming } = thread;
        // One connection does one thing at a time.
        // oxlint-disable no-await-in-loop
        await lockThread(sql, {
          scope: call.scope,
          key: threadId,
          uuid: context.generateId(),
          ...resourceOf(incoming),
        });
        results.push((await saveThread(context, sql, call, thread))!);
        // oxlint-enable no-await-in-loop
      }
      const threadIds = ordered.map(({ threadId }) => threadId);
      if (call.request) await rememberSave(sql, call.scope, call.request, threadIds);
      return results;
    });
  // Refused by a key: somebody else has just used the same one, and is found now.
  return (await orRefused(save)) ?? save();
}

/** Undefined: the thread has changed since it was read. */
async function saveThread(
  { generateId }: Context,
  sql: Sql,
  call: Call,
  { threadId, incoming }: Call['threads'][number],
  request?: Request,
): Promise<Result | undefined> {
  const { scope, expectedVersion } = call;
  const asked = incoming.flatMap(({ message, parentId }) => [message.id, ...(isKey(parentId) ? [parentId] : [])]);
  const { version, headId, messages } = await readStored(sql, scope, threadId, asked);
  const { inserts, updates } = draftMessages(threadId, headId, messages, incoming, call.mode);
  if (expectedVersion !== undefined && version !== expectedVersion) {
    const text = `Thread "${threadId}" is at version ${version}, not ${expectedVersion}. Read what changed, then try again.`;
    throw new StoreError('version-conflict', text, { version });
  }
  const stored = Array.from(messages.values(), ({ message }) => message);
  if (inserts.length + updates.length === 0) {
    if (request && !(await rememberSave(sql, scope, request, [threadId]))) return undefined;
    return { threadId, version, messages: byId(stored), isChanged: false };
  }
  const appended = await appendMessages(sql, {
    scope,
    threadId,
    uuid: generateId(),
    ...resourceOf(incoming),
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

/** What a call with the same key has done, as it is now. Throws if that was another call. */
async function findRepeated(sql: Sql, { scope, request, threads }: Call): Promise<Result[] | undefined> {
  const earlier = request && (await findRequest(sql, scope, request.key));
  if (!earlier) return undefined;
  if (earlier.hash !== request.hash || earlier.run !== undefined) {
    const text = 'The operationKey was used for another call. A key belongs to one body: make a new one.';
    throw new StoreError('key-reused', text);
  }
  const results: Result[] = [];
  for (const { threadId, incoming } of threads) {
    const ids = incoming.map(({ message }) => message.id);
    // oxlint-disable-next-line no-await-in-loop -- one connection does one thing at a time
    const { version, messages } = await readStored(sql, scope, threadId, ids);
    const left = [...messages.values()].filter(({ isDeleted }) => !isDeleted).map(({ message }) => message);
    results.push({ threadId, version, messages: byId(left), isChanged: false });
  }
  return results;
}

const uniqueViolation = '23505';

/** Undefined where a key has refused the statement: an id or an operation key that was taken for new is not. */
async function orRefused<Value>(write: () => Promise<Value | undefined>): Promise<Value | undefined> {
  try {
    return await write();
  } catch (error) {
    if (sqlState(error) === uniqueViolation) return undefined;
    throw error;
  }
}

/** What cannot be an id of a message is none, and is not asked for. */
function isKey(parentId: string | null | undefined): parentId is string {
  return parentId !== undefined && parentId !== null && isStoreText(parentId);
}

function resourceOf(incoming: readonly Incoming[]): { resourceId?: string } {
  const resourceId = incoming[0]?.message.resourceId;
  return resourceId === undefined ? {} : { resourceId };
}

function byId(messages: readonly CanonicalMessage[]): Map<string, CanonicalMessage> {
  return new Map(messages.map((message) => [message.id, message]));
}
