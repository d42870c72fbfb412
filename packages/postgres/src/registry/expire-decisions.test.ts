import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { age } from '../../test/age.ts';
import { databases } from '../../test/databases.ts';
import { start } from '../../test/processes.ts';
import type { Database } from '../database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const day = 24 * 60 * 60 * 1000;

// The store contract covers visible expiry; these tests cover the deletion of internal rows.
describe.each(databases)('expiry on $name', { timeout: 60_000 }, ({ open }) => {
  let database: Database;
  let store: PostgresMemoryStore;
  beforeAll(async () => {
    database = await open();
    store = PostgresMemoryStore.on(database);
  }, 60_000);
  afterAll(() => store.close());

  it('deletes idempotency keys after a day', async () => {
    const requests = async (): Promise<number> => (await database.query('select key from intertie.requests')).length;
    await start({ name: 'p1', store }, 'r0', { threadId: 't0', idempotency: { key: 'k', hash: 'h' } });
    await store.registry.expire();
    expect(await requests()).toBe(1);
    await age(database, day);
    await store.registry.expire();
    expect(await requests()).toBe(0);
  });

  it('deletes processes after a day and still takes over their runs', async () => {
    const processes = async (): Promise<number> => (await database.query('select id from intertie.processes')).length;
    await start({ name: 'p1', store }, 'r1');
    await age(database, day);
    await store.registry.expire();
    expect(await processes()).toBe(1);
    await age(database, 60_000);
    await store.registry.expire();
    expect(await processes()).toBe(0);
    expect((await store.registry.takeOver('p2')).map(({ run }) => run.runId)).toContain('r1');
  });
});
