import { defined } from '../../json/fields.ts';
import type { ListMessages } from '../store.ts';
import type { CanonicalMessage, Thread } from '../../event/message.ts';
import type { Scope } from '../scope.ts';
import { StoreError } from '../store-error.ts';
import { partition, type MessageRow, type Tables, type ThreadRow } from './tables.ts';

export function findThread(tables: Tables, scope: Scope, threadId: string): ThreadRow | undefined {
  return tables.threads.get(scope)?.get(threadId);
}

export function createThread(
  tables: Tables,
  scope: Scope,
  thread: { id: string; resourceId?: string; createdAt?: Date },
): ThreadRow {
  const now = tables.now();
  const row: ThreadRow = {
    scope,
    id: thread.id,
    ...(thread.resourceId !== undefined && { resourceId: thread.resourceId }),
    createdAt: thread.createdAt?.getTime() ?? now,
    updatedAt: now,
    version: 0,
    deleted: false,
    messages: new Map(),
    runs: new Map(),
  };
  partition(tables.threads, scope).set(thread.id, row);
  return row;
}

export function toThread(row: ThreadRow): Thread {
  return {
    id: row.id,
    ...defined({ resourceId: row.resourceId, title: row.title, headId: row.headId }),
    ...(row.metadata !== undefined && { metadata: structuredClone(row.metadata) }),
    ...(row.hidden && { hidden: true }),
    version: row.version,
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
  };
}

/** Increments the version of the thread. All changes of one call share a version. */
export function nextVersion(tables: Tables, thread: ThreadRow): number {
  thread.updatedAt = tables.now();
  tables.hints.publish({ type: 'thread', scope: thread.scope, threadId: thread.id });
  return ++thread.version;
}

/** Adds a message at the end of its branch, and makes that the active branch. */
export function addMessage(thread: ThreadRow, message: CanonicalMessage, version: number): MessageRow {
  const row: MessageRow = { message, thread, version, deleted: false };
  thread.messages.set(message.id, row);
  thread.headId = message.id;
  return row;
}

export function changeMessage(row: MessageRow, change: Partial<CanonicalMessage>, version: number): void {
  row.message = { ...row.message, ...change };
  row.version = version;
}

export function findMessage(thread: ThreadRow | undefined, messageId: string): MessageRow | undefined {
  const row = thread?.messages.get(messageId);
  return row?.deleted ? undefined : row;
}

/** Walks from the leaf to the root. It ends because a parent is always older than its child. */
function* walkBranch(thread: ThreadRow, leafId: string | undefined): Generator<MessageRow> {
  for (let id = leafId; id !== undefined;) {
    const row = findMessage(thread, id);
    if (!row) return;
    yield row;
    id = row.message.parentId;
  }
}

/** Reads a page of a branch, starting at the leaf: the last messages of the active branch cost no more than their number. */
export function readBranchPage(thread: ThreadRow, query: ListMessages): MessageRow[] {
  const { limit = Infinity, leafId = thread.headId, cursor } = query;
  if (query.leafId !== undefined && !findMessage(thread, query.leafId)) {
    throw notFound('leafId', query.leafId, thread.id);
  }
  const after = cursor && 'after' in cursor ? cursor.after : undefined;
  const before = cursor && 'before' in cursor ? cursor.before : undefined;
  const page: MessageRow[] = [];
  let reached = cursor === undefined;
  for (const row of walkBranch(thread, leafId)) {
    if (row.message.id === after) {
      reached = true;
      break;
    }
    if (reached || after !== undefined) page.push(row);
    if (row.message.id === before) reached = true;
    if (after === undefined && page.length >= limit) break;
  }
  if (!reached) throw notFound('cursor', after ?? before ?? '', thread.id);
  page.reverse();
  const cut = after === undefined ? page : page.slice(0, limit);
  return query.orderBy === 'desc' ? cut.toReversed() : cut;
}

function notFound(what: string, id: string, threadId: string): StoreError {
  const text = `${what} "${id}" is not on this branch of thread "${threadId}". List the branch again from its end.`;
  return new StoreError('not-found', text);
}

export function findSiblings(thread: ThreadRow, row: MessageRow): MessageRow[] {
  const { parentId } = row.message;
  return [...thread.messages.values()].filter((other) => !other.deleted && other.message.parentId === parentId);
}

/** Finds the message and its descendants. A parent is always older than its children, so one pass suffices. */
export function findSubtree(thread: ThreadRow, root: MessageRow): MessageRow[] {
  const ids = new Set([root.message.id]);
  const rows = [root];
  for (const row of thread.messages.values()) {
    if (row.deleted || row.message.parentId === undefined || !ids.has(row.message.parentId)) continue;
    ids.add(row.message.id);
    rows.push(row);
  }
  return rows;
}
