import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { storeContract } from '@intertie/conformance/store-contract';
import { createStore } from '@intertie/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { age, longLeaseMs as leaseMs } from '../../packages/postgres/test/age.ts';
import { installedVersions, startPostgres, type Server } from './system-postgres.ts';

const run = promisify(execFile);

it('finds an installed Postgres', (context) => {
  context.skip(installedVersions.length === 0, 'no Postgres is installed in /usr/lib/postgresql');
  expect(installedVersions.every((version) => Number(version) >= 15)).toBe(true);
});

describe.each(installedVersions)('Postgres %s', (version) => {
  let server: Server;
  let client: pg.Client;
  const sql = {
    query: async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
      (await client.query(text, [...values])).rows,
  };
  const url = (database: string): string => server.url.replace(/postgres$/, database);

  beforeAll(async () => {
    server = await startPostgres(version);
    const admin = new pg.Client(server.url);
    await admin.connect();
    await admin.query('create database contract');
    await admin.query('create database theirs');
    await admin.end();
    await (await createStore(url('contract'))).close();
    client = new pg.Client(url('contract'));
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await server.stop();
  });

  storeContract(
    `Postgres ${version}`,
    async () => {
      for (const table of [
        'blob_refs',
        'blobs',
        'requests',
        'run_events',
        'conversation_message',
        'threads',
        'processes',
      ]) {
        await client.query(`delete from intertie.${table}`);
      }
      return createStore({ url: url('contract'), leaseMs });
    },
    { clock: { now: () => Date.now(), advance: (ms) => age(sql, ms), leaseMs } },
  );

  it('keeps our tables when a user’s drizzle-kit runs', async () => {
    const database = url('theirs');
    const store = await createStore(database);
    onTestFinished(() => store.close());
    await store.saveThread({ thread: { id: 'trip' } });

    const folder = mkdtempSync(join(tmpdir(), 'intertie-drizzle-kit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'));
    const push = async (columns: string): Promise<void> => {
      writeFileSync(
        join(folder, 'schema.ts'),
        `import { pgTable, text } from 'drizzle-orm/pg-core';\nexport const users = pgTable('users', { ${columns} });\n`,
      );
      const kit = join(folder, 'node_modules/drizzle-kit/bin.cjs');
      const options = ['push', '--force', '--dialect=postgresql', '--schema=./schema.ts', `--url=${database}`];
      await run(process.execPath, [kit, ...options], { cwd: folder });
    };
    await push(`id: text('id').primaryKey(), name: text('name')`);
    await push(`id: text('id').primaryKey()`);

    const theirs = new pg.Client(database);
    await theirs.connect();
    const { rows } = await theirs.query(
      `select table_schema || '.' || table_name || '.' || column_name as name from information_schema.columns
       where table_schema in ('public', 'intertie') order by 1`,
    );
    await theirs.end();
    const names = rows.map(({ name }: { name: string }) => name);
    expect(names.filter((name) => name.startsWith('public.'))).toEqual(['public.users.id']);
    expect(names).toContain('intertie.conversation_message.content');
    expect(await store.getThreadById({ threadId: 'trip' })).not.toBeNull();
  });
});
