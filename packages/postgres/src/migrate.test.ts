import type { MessageInput } from '@intertie/core/store';
import pg from 'pg';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { newPostgresUrl, postgresServer } from '../test/databases.ts';
import type { Database } from './database.ts';
import { checkSchema, migrate, MigrationError, requireSchema } from './migrate.ts';
import { latestMigration, printMigrations, readMigrations, splitStatements } from './migrations.ts';
import { connectPg } from './pg-database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

function connect(url: string, schema?: string): Database {
  const database = connectPg(url, schema === undefined ? {} : { schema });
  onTestFinished(() => database.close());
  return database;
}

async function tablesIn(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    'select table_name::text as name from information_schema.tables where table_schema = $1::text order by 1',
    [database.schema],
  );
  return rows.map(({ name }) => name);
}

describe('migrations', () => {
  beforeAll(() => postgresServer(), 60_000);

  it('applies each migration once when ten processes migrate concurrently', async () => {
    const url = await newPostgresUrl({ empty: true });
    const starts = Array.from({ length: 10 }, () => connect(url));
    await Promise.all(starts.map((database) => migrate(database)));
    const [database] = starts;
    expect(await tablesIn(database!)).toContain('conversation_message');
    expect(await database!.query('select key, value from intertie.meta order by key')).toEqual([
      { key: 'event_format_write', value: '1' },
      { key: 'min_code', value: '7' },
      { key: 'schema', value: String(latestMigration) },
    ]);
  });

  it('migrates another database schema', async () => {
    const database = connect(await newPostgresUrl({ empty: true }), 'our "own"');
    await migrate(database);
    await migrate(database);
    expect(await tablesIn(database)).toContain('threads');
    expect(await tablesIn({ ...database, schema: 'intertie' })).toEqual([]);
  });

  it('prints a script with the same effect', async () => {
    const url = await newPostgresUrl({ empty: true });
    const client = new pg.Client(url);
    await client.connect();
    await client.query(await printMigrations());
    await client.end();
    const database = connect(url);
    expect(await checkSchema(database)).toEqual({ pending: 0 });
    expect(await printMigrations({ after: latestMigration })).toBe('');
  });

  it('adds defaults for id and time of messages while an older store stays open', async () => {
    const database = connect(await newPostgresUrl({ empty: true }));
    await database.query('create schema intertie');
    const migrations = await readMigrations();
    const before = migrations.findIndex(({ name }) => name === '0006_message_defaults');
    const apply = async ({ sql }: { sql: string }): Promise<void> => {
      for (const statement of splitStatements(sql)) await database.query(statement);
    };
    const message: MessageInput = {
      id: 'm1',
      threadId: 'thread_1',
      role: 'user',
      type: 'text',
      createdAt: new Date(0),
      content: { format: 2, parts: [{ type: 'text', text: 'Hello' }] },
    };
    for (const migration of migrations.slice(0, before)) await apply(migration);
    const store = PostgresMemoryStore.on(database);
    await store.saveMessages({ messages: [message] });
    for (const migration of migrations.slice(before)) await apply(migration);
    await store.saveMessages({ messages: [{ ...message, id: 'm2' }] });
    await database.query(`insert into intertie.conversation_message
      (thread_id, seq, version, parent_id, role, type, status, content)
      select id, next_seq + 1, version + 1, head_id, 'user', 'text', 'complete', '{"format":2,"parts":[]}'
      from intertie.threads`);
    await database.query(`update intertie.threads t set next_seq = t.next_seq + 1, version = t.version + 1, head_id = m.id
      from intertie.conversation_message m where m.thread_id = t.id and m.seq = t.next_seq + 1`);
    const [first, second, third] = await store.listMessages({ threadId: 'thread_1' });
    expect([first, second]).toMatchObject([{ id: 'm1', createdAt: new Date(0) }, { id: 'm2' }]);
    expect(third?.id).toMatch(/^[\da-f]{8}-/);
    expect(third?.createdAt.getTime()).toBeGreaterThan(0);
  });

  it('splits migrations into statements', async () => {
    const statements = (await readMigrations()).flatMap(({ sql }) => splitStatements(sql));
    for (const statement of statements) expect(statement).toMatch(/^(create|alter|insert|drop|update) /);
  });

  it('rejects pending migrations if they are not applied', async () => {
    const database = connect(await newPostgresUrl({ empty: true }));
    await expect(requireSchema(database)).rejects.toMatchObject({ name: 'MigrationError', code: 'needed' });
  });

  it('throws an error with a fix if the role lacks privileges', async () => {
    const url = new URL(await newPostgresUrl({ empty: true }));
    const owner = connect(url.href);
    const role = `reader_${Date.now()}`;
    await owner.query(`create role ${role} login password 'p'`);
    await owner.query(`revoke create on database ${url.pathname.slice(1)} from public`);
    url.username = role;
    url.password = 'p';
    const error = await migrate(connect(url.href)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MigrationError);
    expect(error).toMatchObject({ code: 'forbidden', message: expect.stringContaining('printMigrations()') });
  });

  it('rejects code older than `min_code` and accepts other older code', async () => {
    const database = connect(await newPostgresUrl());
    await database.query(`update intertie.meta set value = '99' where key = 'schema'`);
    expect(await checkSchema(database)).toEqual({ pending: 0 });
    await database.query(`update intertie.meta set value = '98' where key = 'min_code'`);
    await expect(migrate(database)).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringMatching(/migration 99.*migration 98.*Update @intertie\/postgres/),
    });
  });
});
