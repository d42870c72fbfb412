import { defaultLeaseMs, defaultResumableLeaseMs } from '../default-lease.ts';
import type { Hint, Hints } from '../hints.ts';
import type { Store } from '../store.ts';
import { localScope, toScope, type Scope } from '../scope.ts';
import { generateId, type GenerateId } from '../../json/uuid-v7.ts';
import { createInMemoryBlobs } from './in-memory-blobs.ts';
import { createInMemoryConversations } from './in-memory-conversations.ts';
import { createInMemoryRegistry } from './in-memory-registry.ts';
import { createInMemoryRunLog } from './in-memory-run-log.ts';
import type { Tables } from './tables.ts';

export type InMemoryStoreOptions = {
  /** Default: `local`. */
  scope?: string;
  /** The clock, in milliseconds. */
  now?: () => number;
  /** Creates ids that are unique in the store, for runs and for messages whose own id is already used. */
  generateId?: GenerateId;
  /** Time for which a process owns its runs after a heartbeat. Default: 15 seconds if all its agents can resume, else 45. */
  leaseMs?: number;
};

/**
 * Creates a store in the memory of this process: for tests, for prototypes, and as the reference implementation of the contract.
 * Everything that goes in or comes out is copied. `forScope` returns views of the same store.
 */
export function createInMemoryStore(options: InMemoryStoreOptions = {}): Store {
  const hints = createInMemoryHints();
  const tables: Tables = {
    now: options.now ?? (() => Date.now()),
    generateId: options.generateId ?? generateId,
    leaseMs: options.leaseMs ?? defaultLeaseMs,
    resumableLeaseMs: options.leaseMs ?? defaultResumableLeaseMs,
    hints,
    threads: new Map(),
    runs: new Map(),
    runSerial: 0,
    live: new Set(),
    queued: new Set(),
    ended: new Set(),
    open: new Set(),
    leases: new Map(),
    requests: new Map(),
    blobs: new Map(),
  };
  const shared = {
    hints,
    registry: createInMemoryRegistry(tables),
    log: createInMemoryRunLog(tables),
    blobs: createInMemoryBlobs(tables),
    forScope: (scope: string) => bind(toScope(scope)),
    close: () => Promise.resolve(),
  };
  const bind = (scope: Scope): Store => ({ ...createInMemoryConversations(tables, scope), ...shared, scope });
  return bind(options.scope === undefined ? localScope : toScope(options.scope));
}

/** Creates a bus inside the process. Hints arrive after the call that caused them, as they would from another process. */
function createInMemoryHints(): Hints {
  const listeners = new Set<(hint: Hint) => void>();
  return {
    publish(hint) {
      for (const listener of listeners) {
        // One task per listener: if one throws, the others still receive the hint.
        queueMicrotask(() => {
          if (listeners.has(listener)) listener(hint);
        });
      }
    },
    subscribe(listener) {
      // A wrapper per subscription: the same listener can subscribe twice, and unsubscribes once.
      const subscription = (hint: Hint): void => listener(hint);
      listeners.add(subscription);
      return () => void listeners.delete(subscription);
    },
  };
}
