import { setTimeout as sleep } from 'node:timers/promises';

import { storeContract } from '@intertie/conformance/store-contract';
import { afterAll } from 'vitest';

import { databases, emptyTables } from '../test/databases.ts';
import type { Database } from './database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

/** Short, because the database's clock can only be waited for. */
const leaseMs = 400;

for (const { name, open } of databases) {
  let database: Promise<Database> | undefined;
  afterAll(async () => (await database)?.close());

  storeContract(
    name,
    async () => {
      const shared = await (database ??= open());
      await emptyTables(shared);
      return PostgresMemoryStore.on({ ...shared, close: () => Promise.resolve() }, { leaseMs });
    },
    { clock: { now: () => Date.now(), advance: (ms) => sleep(ms), leaseMs } },
  );
}
