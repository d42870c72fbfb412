import { setTimeout as sleep } from 'node:timers/promises';

import { storeContract } from '@intertie/conformance/store-contract';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { age, longLeaseMs as leaseMs } from '../test/age.ts';
import { emptyTables, newPostgresUrl, newSerializableUrl } from '../test/databases.ts';
import type { Database } from './database.ts';
import type { PgConnection, PgPool } from './drivers.ts';
import { migrate } from './migrate.ts';
import { usePgPool } from './pg-database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

/** Simulates PgBouncer in transaction mode: each statement and transaction gets another server connection without session state. */
class TransactionPooler implements PgPool {
  readonly #pool: pg.Pool;
  readonly #waiting: pg.PoolClient[] = [];

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 8 });
  }

  async connect(): Promise<PgConnection> {
    const client = await this.#pool.connect();
    const release = async (broken?: boolean): Promise<void> => {
      if (!broken) await client.query('discard all');
      // Held for a while, so that the next caller gets another connection.
      this.#waiting.push(client);
      if (this.#waiting.length > 3) this.#waiting.shift()!.release(broken);
    };
    return {
      query: (query) => client.query(query),
      on: (event, listener) => client.on(event, listener),
      off: (event, listener) => client.off(event, listener),
      release: (broken) => void release(broken),
    };
  }

  async end(): Promise<void> {
    await sleep(20);
    for (const client of this.#waiting) client.release();
    await this.#pool.end();
  }
}

let opened: Promise<{ pooler: TransactionPooler; database: Database }>;
beforeAll(() => (opened = openPooled()), 60_000);
afterAll(async () => (await opened).pooler.end());

async function openPooled(): Promise<{ pooler: TransactionPooler; database: Database }> {
  const pooler = new TransactionPooler(await newSerializableUrl());
  return { pooler, database: usePgPool(pooler) };
}

// The database is serializable by default, so that this suite also covers that.
storeContract(
  'behind a transaction-mode pooler without LISTEN, default_transaction_isolation = serializable',
  async () => {
    const { database } = await opened;
    await emptyTables(database);
    return PostgresMemoryStore.on(database, { leaseMs });
  },
  { clock: { now: () => Date.now(), advance: async (ms) => age((await opened).database, ms), leaseMs } },
);

it('migrates from ten processes behind a transaction-mode pooler', async () => {
  const url = await newPostgresUrl({ empty: true });
  const poolers = Array.from({ length: 10 }, () => new TransactionPooler(url));
  await Promise.all(poolers.map((pooler) => migrate(usePgPool(pooler))));
  expect(await usePgPool(poolers[0]!).query('select key from intertie.meta order by key')).toHaveLength(3);
  await Promise.all(poolers.map((pooler) => pooler.end()));
});
