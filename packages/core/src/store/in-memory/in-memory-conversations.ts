import type { ListedThread, ListThreads, MemoryStore, MessageChange, ThreadInput, ThreadPage } from '../store.ts';
import type { Scope } from '../scope.ts';
import { StoreError } from '../store-error.ts';
import { checkStoreId } from '../store-id.ts';
import { readJson } from '../rules/read-message.ts';
import { checkStoreText } from '../store-text.ts';
import {
  createThread,
  findMessage,
  findThread,
  nextVersion,
  readBranchPage,
  findSiblings,
  toThread,
} from './conversation.ts';
import { deleteSubtree, deleteThreadRow } from './delete-rows.ts';
import { exportScope } from './export-scope.ts';
import { saveMessages } from './save-messages.ts';
import { searchMessages } from './search-messages.ts';
import type { MessageRow, Tables, ThreadRow } from './tables.ts';

/** Creates the conversations of one scope: its threads and messages. */
export function createInMemoryConversations(tables: Tables, scope: Scope): MemoryStore {
  const find = (threadId: string) => findThread(tables, scope, threadId);

  return {
    async listMessages(query) {
      checkLimit(query.limit);
      const thread = find(query.threadId);
      return thread ? readBranchPage(thread, query).map(copyMessage) : [];
    },

    saveMessages: (request) => saveMessages(tables, scope, request),

    async getMessage({ threadId, messageId }) {
      const row = findMessage(find(threadId), messageId);
      return row ? copyMessage(row) : null;
    },

    async listSiblings({ threadId, messageId }) {
      const row = findMessage(find(threadId), messageId);
      return row ? findSiblings(row.thread, row).map(copyMessage) : [];
    },

    async listChanges({ threadId, since, limit }) {
      checkLimit(limit);
      const thread = find(threadId);
      return thread ? listChanges(thread, since, limit) : [];
    },

    async deleteMessage({ threadId, messageId }) {
      const row = findMessage(find(threadId), messageId);
      if (row) deleteSubtree(tables, row);
    },

    async searchMessages(query) {
      checkLimit(query.limit);
      return searchMessages(tables.threads.get(scope)?.values() ?? [], query);
    },

    async getThreadById({ threadId }) {
      const thread = find(threadId);
      return thread ? toThread(thread) : null;
    },

    async saveThread({ thread: input }) {
      return toThread(saveThread(tables, scope, input));
    },

    async listThreads(query = {}) {
      checkLimit(query.limit);
      return listThreads([...(tables.threads.get(scope)?.values() ?? [])], query);
    },

    async getVersion({ threadId }) {
      return find(threadId)?.version ?? 0;
    },

    async deleteThread({ threadId }) {
      const thread = find(threadId);
      if (thread) deleteThreadRow(tables, thread);
    },

    exportAll: () => exportScope(tables, scope),

    async purgeAll() {
      for (const thread of tables.threads.get(scope)?.values() ?? []) deleteThreadRow(tables, thread);
      tables.threads.delete(scope);
      tables.requests.delete(scope);
      tables.blobs.delete(scope);
    },
  };
}

function copyMessage(row: MessageRow): MessageRow['message'] {
  return structuredClone(row.message);
}

function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    throw new StoreError('invalid', `limit is ${limit}. Pass a positive integer, or omit it for no limit.`);
  }
}

function listChanges(thread: ThreadRow, since: number, limit = Infinity): MessageChange[] {
  const changed = [...thread.messages.values()]
    .filter((row) => row.version > since)
    .toSorted((a, b) => a.version - b.version);
  const last = changed[limit - 1]?.version ?? Infinity;
  return changed
    .filter((row) => row.version <= last)
    .map((row) =>
      row.deleted
        ? { version: row.version, type: 'tombstone', messageId: row.message.id }
        : { version: row.version, type: 'message', message: copyMessage(row) },
    );
}

function saveThread(tables: Tables, scope: Scope, input: ThreadInput): ThreadRow {
  checkStoreId('The id of a thread', input.id);
  if (input.resourceId !== undefined) checkStoreId('resourceId', input.resourceId);
  if (input.title !== undefined) checkStoreText('title', input.title);
  const known = findThread(tables, scope, input.id);
  if (input.headId !== undefined && !findMessage(known, input.headId)) {
    const text = `headId "${input.headId}" is not a message of thread "${input.id}". Save the message first.`;
    throw new StoreError('not-found', text);
  }
  const metadata = input.metadata && readJson(input.metadata, 'metadata');
  const thread = known ?? createThread(tables, scope, input);
  if (input.resourceId !== undefined) thread.resourceId = input.resourceId;
  if (input.title !== undefined) thread.title = input.title;
  if (metadata) thread.metadata = metadata;
  if (input.headId !== undefined) thread.headId = input.headId;
  if (input.hidden !== undefined) thread.hidden = input.hidden;
  nextVersion(tables, thread);
  return thread;
}

const pageSize = 50;

/** Pages threads by `updatedAt`, then by id. The cursor holds both, so no thread is returned twice. */
function listThreads(
  threads: ThreadRow[],
  { resourceId, search = '', paused, limit = pageSize, cursor }: ListThreads,
): ThreadPage {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean);
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const found = threads.filter((thread) => {
    const { updatedAt, id, title = '' } = thread;
    if (paused && !isPaused(thread)) return false;
    if (thread.hidden || (resourceId !== undefined && thread.resourceId !== resourceId)) return false;
    if (after && (updatedAt > after.updatedAt || (updatedAt === after.updatedAt && id <= after.id))) return false;
    return terms.every((term) => title.toLowerCase().includes(term));
  });
  const sorted = found.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  const page = sorted.slice(0, limit);
  const last = sorted.length > limit ? page.at(-1) : undefined;
  return { threads: page.map(toListedThread), ...(last && { cursor: `${last.updatedAt}:${last.id}` }) };
}

function toListedThread(thread: ThreadRow): ListedThread {
  return { ...toThread(thread), ...(isPaused(thread) && { paused: true }) };
}

function isPaused(thread: ThreadRow): boolean {
  return thread.headId !== undefined && findMessage(thread, thread.headId)?.message.status === 'paused';
}

function readCursor(cursor: string): { updatedAt: number; id: string } {
  const [, updatedAt, id] = /^(-?\d+):(.+)$/s.exec(cursor) ?? [];
  if (updatedAt === undefined || id === undefined) {
    const text = `"${cursor}" is not a cursor of listThreads. Pass the cursor of the previous page.`;
    throw new StoreError('invalid', text);
  }
  return { updatedAt: Number(updatedAt), id };
}
