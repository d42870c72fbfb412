import type { MessageInput } from '@intertie/core/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { newSerializableUrl } from '../test/databases.ts';
import type { Database } from './database.ts';
import { connectPg } from './pg-database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

// `pooler.test.ts` runs the complete contract on such a database.
describe('default_transaction_isolation = serializable', () => {
  let database: Database;
  beforeAll(async () => void (database = connectPg(await newSerializableUrl())), 60_000);
  afterAll(() => database.close());

  it('retries single statements instead of failing', async () => {
    const store = PostgresMemoryStore.on(database);
    expect(await database.query(`select current_setting('transaction_isolation') as level`)).toEqual([
      { level: 'serializable' },
    ]);
    const message = (id: string): MessageInput => {
      const content = { format: 2 as const, parts: [] };
      return { id, threadId: 't1', role: 'user', type: 'text', createdAt: new Date(0), content };
    };
    const messages = Array.from({ length: 12 * 10 }, (_, n) => message(`m${n}`));
    await Promise.all(messages.map((one) => store.saveMessages({ messages: [one] })));
    expect(await store.listMessages({ threadId: 't1' })).toHaveLength(messages.length);
  });

  it('runs transactions as READ COMMITTED', async () => {
    for (const pool of [database, database.hot]) {
      const level = await pool.transaction((sql) =>
        sql.query(`select current_setting('transaction_isolation') as level`),
      );
      expect(level).toEqual([{ level: 'read committed' }]);
    }
  });
});
