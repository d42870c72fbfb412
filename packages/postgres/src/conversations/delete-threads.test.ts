import { expect, it } from 'vitest';

import { newPostgresUrl } from '../../test/databases.ts';
import { asProcess, start } from '../../test/processes.ts';
import { connectPg } from '../pg-database.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

it('does not delete a hidden thread whose next run is being started', async () => {
  const database = connectPg(await newPostgresUrl());
  const process = asProcess('p', PostgresMemoryStore.on(database));
  const { registry } = process.store;
  const { run } = await start(process, 'r1', { thread: { hidden: true } });
  const outcome = { outcome: 'complete' } as const;
  const content = { format: 2 as const, parts: [] };
  await registry.finish(run.key, 1, { nextSeq: 1, events: [], outcome, content });
  await database.query(`update intertie.threads set updated_at = now() - interval '1 hour'`);
  await database.transaction(async (sql) => {
    // As a start does, which has not been committed yet.
    await sql.query('update intertie.threads set version = version + 1, updated_at = now()');
    expect(await registry.deleteHidden(60_000)).toEqual({ count: 0, runs: [] });
  });
  expect(await registry.deleteHidden(60_000)).toEqual({ count: 0, runs: [] });
  await database.query(`update intertie.threads set updated_at = now() - interval '1 hour'`);
  expect(await registry.deleteHidden(60_000)).toEqual({ count: 1, runs: [run.key] });
});
