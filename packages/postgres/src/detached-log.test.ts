import { storeContract } from '@intertie/conformance/store-contract';
import { withDetachedLog, type Store } from '@intertie/core';
import type { DetachedLog } from '@intertie/core/store';
import { afterAll, beforeAll } from 'vitest';

import { createMapLog } from '../../core/test/map-log.ts';
import { age, longLeaseMs as leaseMs } from '../test/age.ts';
import { emptyTables, openPostgres } from '../test/databases.ts';
import type { Database } from './database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

let database: Database;
beforeAll(async () => void (database = await openPostgres()), 60_000);
afterAll(() => database.close());

const open = async (log: DetachedLog): Promise<Store> => {
  await emptyTables(database);
  return withDetachedLog(PostgresMemoryStore.on({ ...database, close: () => Promise.resolve() }, { leaseMs }), log);
};

storeContract('on Postgres, detached log', () => open(createMapLog()), {
  clock: { now: () => Date.now(), advance: (ms) => age(database, ms), leaseMs },
  detachedLog: { openWithUnclosedLog: () => open({ ...createMapLog(), close: () => new Promise(() => {}) }) },
});
