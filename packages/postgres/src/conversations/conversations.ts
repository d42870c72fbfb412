import type { MemoryStore } from '@intertie/core';
import type { Scope } from '@intertie/core/store';

import { checkLimit } from './check-limit.ts';
import type { Context } from './context.ts';
import { deleteMessage } from './delete-message.ts';
import { deleteThread, purgeScope } from './delete-threads.ts';
import { exportScope } from '../export-scope.ts';
import { readBranch } from './read-branch.ts';
import { readChanges, readMessage, readSiblings } from './read-messages.ts';
import { saveMessages } from './save-messages.ts';
import { searchMessages } from './search-messages.ts';
import { findThread, toThread } from './thread-row.ts';
import { listThreads, saveThread } from './threads.ts';

/** Creates the conversations of one scope. */
export function createConversations(context: Context, scope: Scope): MemoryStore {
  const { database } = context;
  return {
    async listMessages(query) {
      checkLimit(query.limit);
      return readBranch(database, scope, query);
    },
    saveMessages: (request) => saveMessages(context, scope, request),
    getMessage: (query) => readMessage(database, scope, query),
    listSiblings: (query) => readSiblings(database, scope, query),
    async listChanges(query) {
      checkLimit(query.limit);
      return readChanges(database, scope, query);
    },
    deleteMessage: (request) => deleteMessage(context, scope, request),
    async searchMessages(query) {
      checkLimit(query.limit);
      return searchMessages(database, scope, query);
    },

    async getThreadById({ threadId }) {
      const row = await findThread(database, scope, threadId);
      return row ? toThread(row) : null;
    },
    saveThread: ({ thread }) => saveThread(context, scope, thread),
    listThreads: (query = {}) => listThreads(database, scope, query),
    async getVersion({ threadId }) {
      return (await findThread(database, scope, threadId))?.version ?? 0;
    },
    deleteThread: ({ threadId }) => deleteThread(context, scope, threadId),

    exportAll: () => exportScope(database, scope),
    purgeAll: () => purgeScope(context, scope),
  };
}
