import type { CanonicalMessage, Store, Thread } from '@intertie/core';
import { createMessageKeeper, type MessageKeeper } from './message-retries.ts';

/** A thread as a `MessageStore` keeps it: `version` and `updatedAt` are optional. */
export type StoredThread = Omit<Thread, 'version' | 'updatedAt'> & Partial<Pick<Thread, 'version' | 'updatedAt'>>;

/**
 * The four methods of a store that an agent needs to keep messages. `MemoryStore` of `@intertie/core` has them, and so may a
 * class of your own, on any database. Runs then stay in memory: another process cannot follow, stop or recover them, and
 * a thread has no branches. A call that takes longer than 30 seconds has failed.
 */
export interface MessageStore {
  /** Returns the messages of the thread, oldest first; with `limit`, only the last ones. */
  listMessages(query: {
    threadId: string;
    limit?: number;
    orderBy?: 'asc' | 'desc';
  }): CanonicalMessage[] | Promise<CanonicalMessage[]>;
  /** Inserts messages in this order, or replaces those whose id the thread has. */
  saveMessages(request: { messages: CanonicalMessage[] }): unknown;
  getThreadById(query: {
    threadId: string;
  }): StoredThread | null | undefined | Promise<StoredThread | null | undefined>;
  /** Creates or replaces the thread. */
  saveThread(request: { thread: Thread }): unknown;
}

const methods = ['listMessages', 'saveMessages', 'getThreadById', 'saveThread'] as const;

/** One for each store of a user, so that its agents share their runs. */
const keepers = new WeakMap<MessageStore, MessageKeeper>();
const keeperOf = new WeakMap<Store, MessageKeeper>();

/** Returns the store itself if it is complete, or else a store that keeps messages in it and runs in memory. */
export function toStore(store: Store | MessageStore): Store {
  if ('registry' in store && 'forScope' in store) return store;
  const missing = methods.filter((name) => typeof store[name] !== 'function');
  if (missing.length > 0) {
    throw new TypeError(
      `The store has no ${missing.join(', ')}. Pass createStore() of @intertie/postgres, createInMemoryStore() of ` +
        `@intertie/core, or an object with the methods ${methods.join(', ')}.`,
    );
  }
  let keeper = keepers.get(store);
  if (!keeper) {
    keepers.set(store, (keeper = createMessageKeeper(store)));
    keeperOf.set(keeper.store, keeper);
  }
  return keeper.store;
}

/** Keeps the messages of the store's runs in a `MessageStore`. Undefined: the store keeps them itself. */
export function findMessageKeeper(store: Store): MessageKeeper | undefined {
  return keeperOf.get(store);
}
