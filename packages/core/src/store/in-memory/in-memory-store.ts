import { defaultLeaseMs } from '../default-lease.ts';
import type { Store } from '../store.ts';
import { localScope, toScope, type Scope } from '../scope.ts';
import { generateId, type GenerateId } from '../../json/uuid-v7.ts';
import { createInMemoryBlobs } from './in-memory-blobs.ts';
import { createInMemoryConversations } from './in-memory-conversations.ts';
import { createInMemoryHints } from './in-memory-hints.ts';
import { createInMemoryRegistry } from './in-memory-registry.ts';
import { createInMemoryRunLog } from './in-memory-run-log.ts';
import type { Tables } from './tables.ts';

export type InMemoryStoreOptions = {
  /** `local` unless given. */
  scope?: string;
  /** The clock, in milliseconds. */
  now?: () => number;
  /** Makes ids that are unique in the store, for runs and for messages whose own id is taken. */
  generateId?: GenerateId;
  /** How long a process owns its runs after a heartbeat. Default: 45 seconds. */
  leaseMs?: number;
};

/**
 * A store in this process's memory: for tests, for trying things out, and as the reference of what every store does.
 * What goes in and what comes out are copies. `forScope` gives views of the same store.
 */
export function createInMemoryStore(options: InMemoryStoreOptions = {}): Store {
  const hints = createInMemoryHints();
  const tables: Tables = {
    now: options.now ?? (() => Date.now()),
    generateId: options.generateId ?? generateId,
    leaseMs: options.leaseMs ?? defaultLeaseMs,
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
