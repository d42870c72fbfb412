import { storeContract } from '@intertie/conformance/store-contract';
import { afterAll, beforeAll } from 'vitest';

import { age, longLeaseMs as leaseMs } from '../test/age.ts';
import { closingLater } from '../test/close-later.ts';
import { emptyTables, openPostgres } from '../test/databases.ts';
import type { Database } from './database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

let database: Database;
beforeAll(async () => void (database = await openPostgres()), 60_000);
afterAll(() => database.close());

storeContract(
  'with a log that is closed after the run has ended',
  async () => {
    await emptyTables(database);
    const store = PostgresMemoryStore.on({ ...database, close: () => Promise.resolve() }, { leaseMs });
    return closingLater(store, database);
  },
  { clock: { now: () => Date.now(), advance: (ms) => age(database, ms), leaseMs } },
);
