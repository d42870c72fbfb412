import {
  generateId as newId,
  StoreError,
  type CanonicalMessage,
  type Json,
  type MemoryStore,
  type Store,
  type Thread,
} from '@intertie/core';
import type { GenerateId } from '@intertie/core/internal';
import {
  localScope,
  toScope,
  type Blobs,
  type ConnectionCounts,
  type Hints,
  type ListMessages,
  type ListThreads,
  type MessageChange,
  type MessageMatch,
  type Registry,
  type RunLog,
  type SavedMessages,
  type SaveMessages,
  type Scope,
  type SearchMessages,
  type ThreadInput,
  type ThreadPage,
} from '@intertie/core/store';

import { createBlobs } from './blobs/blobs.ts';
import { createConversations } from './conversations/conversations.ts';
import { findThread } from './conversations/thread-row.ts';
import type { Database } from './database.ts';
import { createHints } from './hints.ts';
import { createRegistry } from './registry/registry.ts';
import { createRunLog } from './run-log/run-log.ts';

export type PostgresStoreOptions = {
  /** Scope of the store. Default: `local`. */
  scope?: string;
  /** Generates ids that are unique in the store and increase with time. Default: UUIDs of version 7. */
  generateId?: GenerateId;
  /** Duration of a lease after a heartbeat. Default: 15 seconds if all agents of the process can resume, else 45. */
  leaseMs?: number;
  /** Maximum size of a file in the database, in bytes. Default: 25 MB. */
  maxBlobBytes?: number;
};

type Parts = {
  database: Database;
  registry: Registry;
  log: RunLog;
  hints: Hints;
  blobs: Blobs;
  conversations: (scope: Scope) => MemoryStore;
  close: () => Promise<void>;
};

/** Store on a Postgres server or on PGlite, bound to a scope. `createStore` opens one. */
export class PostgresMemoryStore implements Store {
  readonly scope: Scope;
  readonly registry: Registry;
  readonly log: RunLog;
  readonly hints: Hints;
  readonly blobs: Blobs;
  readonly #parts: Parts;
  readonly #conversations: MemoryStore;

  private constructor(parts: Parts, scope: Scope) {
    this.scope = scope;
    this.registry = parts.registry;
    this.log = parts.log;
    this.hints = parts.hints;
    this.blobs = parts.blobs;
    this.#parts = parts;
    this.#conversations = parts.conversations(scope);
  }

  /** Creates a store on a migrated database. */
  static on(database: Database, options: PostgresStoreOptions = {}): PostgresMemoryStore {
    const { generateId = newId, leaseMs, maxBlobBytes } = options;
    const hints = createHints(database);
    const blobs = createBlobs(database, maxBlobBytes === undefined ? {} : { maxBytes: maxBlobBytes });
    let closed: Promise<void> | undefined;
    const parts: Parts = {
      database,
      hints,
      blobs,
      registry: createRegistry(database, { hints, blobs, generateId, ...(leaseMs !== undefined && { leaseMs }) }),
      log: createRunLog(database, { hints }),
      conversations: (scope) => createConversations({ database, hints, blobs, generateId }, scope),
      close: () => (closed ??= hints.close().then(() => database.close())),
    };
    return new PostgresMemoryStore(parts, options.scope === undefined ? localScope : toScope(options.scope));
  }

  listMessages(query: ListMessages): Promise<CanonicalMessage[]> {
    return this.#conversations.listMessages(query);
  }

  saveMessages(request: SaveMessages): Promise<SavedMessages> {
    return this.#conversations.saveMessages(request);
  }

  getMessage(query: { threadId: string; messageId: string }): Promise<CanonicalMessage | null> {
    return this.#conversations.getMessage(query);
  }

  listSiblings(query: { threadId: string; messageId: string }): Promise<CanonicalMessage[]> {
    return this.#conversations.listSiblings(query);
  }

  listChanges(query: { threadId: string; since: number; limit?: number }): Promise<MessageChange[]> {
    return this.#conversations.listChanges(query);
  }

  deleteMessage(request: { threadId: string; messageId: string }): Promise<void> {
    return this.#conversations.deleteMessage(request);
  }

  searchMessages(query: SearchMessages): Promise<MessageMatch[]> {
    return this.#conversations.searchMessages(query);
  }

  getThreadById(query: { threadId: string }): Promise<Thread | null> {
    return this.#conversations.getThreadById(query);
  }

  saveThread(request: { thread: ThreadInput }): Promise<Thread> {
    return this.#conversations.saveThread(request);
  }

  listThreads(query?: ListThreads): Promise<ThreadPage> {
    return this.#conversations.listThreads(query);
  }

  getVersion(query: { threadId: string }): Promise<number> {
    return this.#conversations.getVersion(query);
  }

  deleteThread(request: { threadId: string }): Promise<void> {
    return this.#conversations.deleteThread(request);
  }

  exportAll(): AsyncIterable<Json> {
    return this.#conversations.exportAll();
  }

  purgeAll(): Promise<void> {
    return this.#conversations.purgeAll();
  }

  /** Returns the primary key of a thread, for your own queries. */
  async threadUuid(threadId: string): Promise<string> {
    const thread = await findThread(this.#parts.database, this.scope, threadId);
    if (!thread) throw new StoreError('not-found', `This scope has no thread "${threadId}".`);
    return thread.uuid;
  }

  /** Connection counts per pool, for metrics. Empty if the database is embedded. */
  connections(): { readonly [pool: string]: ConnectionCounts } {
    return this.#parts.database.connections?.() ?? {};
  }

  /** Returns the same store, bound to another scope. */
  forScope(scope: string): PostgresMemoryStore {
    return new PostgresMemoryStore(this.#parts, toScope(scope));
  }

  refusedWrite(): Error | undefined {
    return this.#parts.database.refusedWrite?.();
  }

  /** Closes the store for all of its scopes. Does not close a pool or a Drizzle database of the user. */
  close(): Promise<void> {
    return this.#parts.close();
  }
}
