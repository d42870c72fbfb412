import type { CanonicalMessage, Store, Thread } from '@intertie/core';
import { adaptMessageStore, type MessageStoreAdapter } from './message-store-adapter.ts';

/** A thread in a `MessageStore`: `version` and `updatedAt` are optional. */
export type StoredThread = Omit<Thread, 'version' | 'updatedAt'> & Partial<Pick<Thread, 'version' | 'updatedAt'>>;

/**
 * The four methods that an agent needs to store messages. `MemoryStore` of `@intertie/core` has them; your own class can
 * implement them on any database. Runs then stay in memory: another process cannot follow, stop or recover them, and a
 * thread has no branches. A call that takes longer than 30 seconds fails.
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

/** One adapter per `MessageStore`, so that its agents share their runs. */
const adapters = new WeakMap<MessageStore, MessageStoreAdapter>();
const adapterByStore = new WeakMap<Store, MessageStoreAdapter>();

/** Returns the store itself if it is complete, or else a store with its messages and with runs in memory. */
export function toStore(store: Store | MessageStore): Store {
  if ('registry' in store && 'forScope' in store) return store;
  const missing = methods.filter((name) => typeof store[name] !== 'function');
  if (missing.length > 0) {
    throw new TypeError(
      `The store has no ${missing.join(', ')}. Pass createStore() of @intertie/postgres, createInMemoryStore() of ` +
        `@intertie/core, or an object with the methods ${methods.join(', ')}.`,
    );
  }
  let adapter = adapters.get(store);
  if (!adapter) {
    adapters.set(store, (adapter = adaptMessageStore(store)));
    adapterByStore.set(adapter.store, adapter);
  }
  return adapter.store;
}

/** Returns the adapter if the store was created from a `MessageStore`. */
export function findMessageStoreAdapter(store: Store): MessageStoreAdapter | undefined {
  return adapterByStore.get(store);
}
