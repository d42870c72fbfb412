import { toScope, type MessageInput } from '@intertie/core/store';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';

import { newPostgresUrl, openPglite } from '../test/databases.ts';
import type { Database } from './database.ts';
import { latestMigration, printMigrations } from './migrations.ts';
import { connectPg } from './pg-database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

const threadId = 'thread_1';

function message(id: string, text: string, rest: Partial<MessageInput> = {}): MessageInput {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text }] };
  return { id, threadId, role: 'user', type: 'text', createdAt: new Date(0), content, ...rest };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('row security', () => {
  it('restricts a role to the rows of its scope and does not affect the store', { timeout: 60_000 }, async () => {
    const url = await newPostgresUrl();
    const owner = await connect(url);
    await owner.query(await printMigrations({ after: latestMigration, optional: ['row-security'] }));
    const database = connectPg(url);
    const store = PostgresMemoryStore.on(database, { scope: 'ada' });
    onTestFinished(() => store.close());
    for (const scope of ['ada', 'bob']) {
      const own = store.forScope(scope);
      await own.saveMessages({ messages: [message('m1', `I am ${scope}.`)], operationKey: 'once' });
      await own.blobs.put(toScope(scope), { data: new TextEncoder().encode(scope) });
      await own.registry.heartbeat('p');
      const request = { threadId, runId: 'r', messageId: 'a', agent: 'x', process: 'p' } as const;
      await own.registry.start(own.scope, { ...request, busy: 'reject', pending: 'reject' });
      expect(await own.listMessages({ threadId })).toHaveLength(2);
    }

    const role = `reporting_${Date.now()}`;
    await owner.query(`create role ${role} login password 'p'`);
    await owner.query(`grant usage on schema intertie to ${role}`);
    await owner.query(`grant select, insert, update, delete on all tables in schema intertie to ${role}`);
    const readerUrl = new URL(url);
    Object.assign(readerUrl, { username: role, password: 'p' });
    const reader = await connect(readerUrl.href);
    const tables = ['threads', 'conversation_message', 'runs', 'run_live', 'requests', 'blobs', 'meta', 'processes'];
    const counts = async (scope?: string): Promise<number[]> => {
      await reader.query('begin');
      if (scope !== undefined) await reader.query(`select set_config('intertie.scope', $1, true)`, [scope]);
      const found = [];
      for (const table of tables) found.push((await reader.query(`select 1 from intertie.${table}`)).rowCount ?? 0);
      await reader.query('commit');
      return found;
    };
    expect(await counts()).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await counts('ada')).toEqual([1, 2, 1, 1, 1, 1, 0, 0]);
    expect(await counts('unknown')).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    await reader.query(`set intertie.scope = 'bob'`);
    const { rows } = await reader.query(`select content -> 'parts' -> 0 ->> 'text' as text
      from intertie.conversation_message where id = 'm1'`);
    expect(rows).toEqual([{ text: 'I am bob.' }]);
    expect((await reader.query('delete from intertie.conversation_message')).rowCount).toBe(0);
    await expect(reader.query(`insert into intertie.meta values ('x', 'y')`)).rejects.toThrow(/row-level security/);
  });
});

describe.each([
  { name: 'Postgres', open: async (): Promise<Database> => connectPg(await newPostgresUrl()) },
  { name: 'PGlite', open: openPglite },
])('the index for searches, $name', ({ open }) => {
  it('finds messages and accepts every message', { timeout: 60_000 }, async () => {
    const database = await open();
    const store = PostgresMemoryStore.on(database);
    onTestFinished(() => store.close());
    await store.saveMessages({ messages: [message('m1', 'A train to Berlin')] });
    const script = await printMigrations({ after: latestMigration, optional: ['full-text'] });
    await database.query(script.slice(script.indexOf('create index')).replace(/;\n+commit;\n$/, ''));
    const long = 'word '.repeat(25_000);
    await store.saveMessages({
      messages: [
        message('m2', 'a\0b Munich\uD800 and \\u0000 more\uDC00'),
        message('m3', `Hamburg ${long}`),
        message('m4', '', { content: { format: 2, parts: [] } }),
        message('m5', Array.from({ length: 20_000 }, (_, n) => `w${n}`).join(' ')),
      ],
    });
    const find = async (search: string): Promise<string[]> =>
      (await store.searchMessages({ search })).map(({ messageId }) => messageId);
    expect(await find('berlin train')).toEqual(['m1']);
    expect(await find('munich')).toEqual(['m2']);
    expect(await find('more')).toEqual(['m2']);
    expect(await find('hamburg')).toEqual(['m3']);
    expect(await find('nowhere')).toEqual([]);
    await store.deleteMessage({ threadId, messageId: 'm2' });
    expect(await find('munich')).toEqual([]);
    expect(await store.getMessage({ threadId, messageId: 'm1' })).toMatchObject({ id: 'm1' });
  });
});
