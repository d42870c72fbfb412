import type { MessageInput } from '@intertie/core/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { counting, type Call } from '../../test/counting.ts';
import { databases, emptyTables } from '../../test/databases.ts';
import type { Database } from '../database.ts';
import { readMigrations, splitStatements } from '../migrations.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const threadId = 't1';

function message(id: string, parentId?: string | null): MessageInput {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: id }] };
  const rest = parentId === undefined ? {} : { parentId };
  return { id, threadId, role: 'user', type: 'text', createdAt: new Date(0), content, ...rest };
}

const chain = (name: string, count: number): MessageInput[] =>
  Array.from({ length: count }, (_, n) => message(`${name}${n + 1}`));

describe.each(databases)('branches as lines, $name', ({ open }) => {
  let database: Database;
  let calls: Call[];
  let store: PostgresMemoryStore;
  beforeAll(async () => {
    ({ database, calls } = counting(await open()));
    store = PostgresMemoryStore.on(database);
  }, 60_000);
  beforeEach(() => emptyTables(database));
  afterAll(() => store.close());

  const lines = () =>
    database.query<{ id: string; line: number | null }>(
      'select id, line::float8 as line from intertie.conversation_message order by thread_id, seq',
    );

  /** Number of database pages that a read touches. */
  async function countPages(read: () => Promise<unknown>): Promise<number> {
    calls.length = 0;
    await read();
    const [page, ...others] = calls.filter(({ text }) => !text.startsWith('select pg_notify'));
    expect(others).toEqual([]);
    const { text, values } = page!;
    const rows = await database.query<{ 'QUERY PLAN': string }>(`explain (analyze, buffers) ${text}`, values);
    const hits = /shared hit=(\d+)(?: read=(\d+))?/.exec(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return Number(hits?.[1]) + Number(hits?.[2] ?? 0);
  }

  it(
    'reads a page of a thread with 10,000 messages at a cost that depends only on the length of the page',
    { timeout: 60_000 },
    async () => {
      for (let n = 0; n < 10; n++) await store.saveMessages({ messages: chain(`${n}-`, 1000) });
      await database.query('analyze intertie.conversation_message');
      const list = (query: object) => () => store.listMessages({ threadId, limit: 50, ...query });
      const end = await countPages(list({}));
      expect(end).toBeGreaterThan(0);
      for (const cursor of [{ before: '9-900' }, { before: '5-500' }, { before: '0-60' }, { after: '0-1' }]) {
        expect(await countPages(list({ cursor })), JSON.stringify(cursor)).toBeLessThan(end + 30);
      }
      const tenth = await countPages(list({ limit: 1000 }));
      expect(await countPages(list({ limit: undefined }))).toBeLessThan(12 * tenth);
      // A branch far back adds one line.
      await store.saveMessages({ messages: [message('again', '0-500'), ...chain('b', 400)] });
      expect(await countPages(list({ cursor: { before: '0-100' } }))).toBeLessThan(end + 60);
      expect(await countPages(list({ leafId: '9-1000', cursor: { before: '0-100' } }))).toBeLessThan(end + 60);
    },
  );

  it('starts a line where the parent is not the previous message', async () => {
    await store.saveMessages({ messages: chain('a', 3) });
    await store.saveMessages({ messages: [message('a4'), message('b1', 'a2'), message('b2'), message('c1', null)] });
    await store.saveMessages({ messages: [message('c2')] });
    await store.deleteMessage({ threadId, messageId: 'c2' });
    await store.saveMessages({ messages: [message('c3')] });
    const found = (await lines()).map(({ id, line }) => `${id} ${line}`).join(', ');
    expect(found).toBe('a1 1, a2 1, a3 1, a4 1, b1 5, b2 5, c1 7, c2 7, c3 9');
  });

  it('continues the line with the messages of a run', async () => {
    await store.saveMessages({ messages: chain('a', 2) });
    const request = { threadId, runId: 'r', messageId: 'answer', agent: 'a', process: 'p' };
    await store.registry.heartbeat('p');
    await store.registry.start(store.scope, {
      ...request,
      message: message('asked'),
      busy: 'reject',
      pending: 'reject',
    });
    expect((await lines()).map(({ id, line }) => `${id} ${line}`)).toEqual(['a1 1', 'a2 1', 'asked 1', 'answer 1']);
  });

  it('deletes messages with their thread without a foreign key', async () => {
    await store.saveMessages({ messages: [...chain('a', 3), { ...message('other'), threadId: 't2' }] });
    await store.deleteThread({ threadId });
    expect((await lines()).map(({ id }) => id)).toEqual(['other']);
    await store.purgeAll();
    expect(await lines()).toEqual([]);
  });

  it('deletes a message with its descendants on all lines', async () => {
    await store.saveMessages({ messages: chain('a', 5) });
    await store.saveMessages({ messages: [message('b1', 'a3'), message('b2'), message('c1', 'a2')] });
    await store.deleteMessage({ threadId, messageId: 'a3' });
    const left = await database.query<{ id: string }>(
      'select id from intertie.conversation_message where deleted_at is null order by seq',
    );
    expect(left.map(({ id }) => id)).toEqual(['a1', 'a2', 'c1']);
  });

  it('reads branches with and without lines, and the migration computes the same lines', async () => {
    await store.saveMessages({ messages: chain('a', 4) });
    for (const [name, parent] of [
      ['b', 'a2'],
      ['c', 'b2'],
      ['d', 'a4'],
      ['e', null],
    ] as const) {
      await store.saveMessages({ messages: [message(`${name}1`, parent), ...chain(name, 3).slice(1)] });
    }
    await store.saveMessages({ messages: [message('x', 'a1')] });
    const all = async () => {
      const pages = [];
      for (const leafId of ['a4', 'b3', 'c3', 'd3', 'e3', 'x']) {
        const branch = (await store.listMessages({ threadId, leafId })).map(({ id }) => id);
        pages.push(branch);
        for (const messageId of branch) {
          pages.push((await store.listSiblings({ threadId, messageId })).map(({ id }) => id));
        }
        for (const [index, id] of branch.entries()) {
          const query = { threadId, leafId, limit: 2 };
          const before = await store.listMessages({ ...query, cursor: { before: id } });
          expect(before.map((one) => one.id)).toEqual(branch.slice(0, index).slice(-2));
          const after = await store.listMessages({ ...query, cursor: { after: id } });
          expect(after.map((one) => one.id)).toEqual(branch.slice(index + 1, index + 3));
        }
      }
      return pages;
    };
    const [written, pages] = [await lines(), await all()];
    expect(pages).toContainEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'c3']);
    expect(pages).toContainEqual(['a3', 'b1']);
    expect(pages).toContainEqual(['a1', 'e1']);
    await database.query('update intertie.conversation_message set line = null where seq % 3 = 1');
    expect(await all()).toEqual(pages);
    await database.query('update intertie.conversation_message set line = null');
    expect(await all()).toEqual(pages);
    const migration = (await readMigrations()).find(({ name }) => name === '0002_lines')!;
    for (const statement of splitStatements(migration.sql).filter((text) => text.startsWith('update'))) {
      await database.query(statement);
    }
    expect(await lines()).toEqual(written);
  });
});
