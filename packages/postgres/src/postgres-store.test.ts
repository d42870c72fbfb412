import { storeContract } from '@intertie/conformance/store-contract';
import { afterAll, beforeAll } from 'vitest';

import { age, longLeaseMs as leaseMs } from '../test/age.ts';
import { databases, emptyTables } from '../test/databases.ts';
import type { Database } from './database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

for (const { name, open } of databases) {
  let database: Database;
  beforeAll(async () => void (database = await open()), 60_000);
  afterAll(() => database.close());

  storeContract(
    name,
    async () => {
      await emptyTables(database);
      return PostgresMemoryStore.on({ ...database, close: () => Promise.resolve() }, { leaseMs });
    },
    { clock: { now: () => Date.now(), advance: (ms) => age(database, ms), leaseMs } },
  );
}
