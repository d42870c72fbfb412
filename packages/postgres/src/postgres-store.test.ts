import { storeContract } from '@intertie/conformance/store-contract';
import { afterAll } from 'vitest';

import { age } from '../test/age.ts';
import { databases, emptyTables } from '../test/databases.ts';
import type { Database } from './database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

for (const { name, open } of databases) {
  let database: Promise<Database> | undefined;
  const shared = (): Promise<Database> => (database ??= open());
  afterAll(async () => (await database)?.close());

  storeContract(
    name,
    async () => {
      const opened = await shared();
      await emptyTables(opened);
      return PostgresMemoryStore.on({ ...opened, close: () => Promise.resolve() });
    },
    { clock: { now: () => Date.now(), advance: async (ms) => age(await shared(), ms), leaseMs: 15_000 } },
  );
}
