import type { MessageInput } from '@intertie/core/store';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { counting } from '../test/counting.ts';
import { newPostgresUrl, openPostgres } from '../test/databases.ts';
import { start } from '../test/processes.ts';
import { usePgPool } from './pg-database.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

function message(id: string, parentId?: string): MessageInput {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: id }] };
  const rest = parentId === undefined ? {} : { parentId };
  return { id, threadId: 't', role: 'user', type: 'text', createdAt: new Date(0), content, ...rest };
}

it('plans prepared statements without sequential scans, even on empty tables', async () => {
  const { database, calls } = counting(await openPostgres());
  const store = PostgresMemoryStore.on(database);
  onTestFinished(() => store.close());
  await store.saveMessages({ messages: [message('m1'), message('m2')], operationKey: 'once' });
  await store.saveMessages({ messages: [message('m3', 'm1')] });
  await store.listMessages({ threadId: 't', limit: 2 });
  for (const cursor of [{ before: 'm3' }, { after: 'm1' }]) await store.listMessages({ threadId: 't', cursor });
  await start({ name: 'p', store }, 'r', { threadId: 't', message: message('m4') });
  await store.registry.promote(store.scope, 't', 'p');
  const prepared = new Set(calls.filter(({ options }) => options?.prepare).map(({ text }) => text));
  expect(prepared.size).toBeGreaterThan(6);
  let reading = 0;
  for (const text of prepared) {
    const rows = await database.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`);
    const lines = rows.map((row) => row['QUERY PLAN'].trim());
    expect(lines.filter((line) => line.includes('Seq Scan'))).toEqual([]);
    const reads = lines.flatMap((line, index) => {
      const [, by] = /using conversation_message_(\w+) on conversation_message/.exec(line) ?? [];
      return by === undefined ? [] : [{ by, condition: lines[index + 1] }];
    });
    if (reads.length > 0) reading += 1;
    // Every message index starts with the thread, and on an empty table all of them have the same cost.
    for (const { by, condition } of reads) {
      expect(condition).toMatch(by === 'pkey' ? /thread_id = .* AND \(id / : /thread_id = .* AND \(seq /);
      expect(['pkey', 'seq']).toContain(by);
    }
  }
  expect(reading).toBeGreaterThan(5);
});

it('reuses one plan for short and long saves', async () => {
  // One connection, so that it plans every statement.
  const pool = new pg.Pool({ connectionString: await newPostgresUrl(), max: 1 });
  const database = usePgPool(pool, { prepare: true });
  const store = PostgresMemoryStore.on(database);
  onTestFinished(async () => {
    await store.close();
    await pool.end();
  });
  let n = 0;
  const save = (count: number): Promise<unknown> =>
    store.saveMessages({ messages: Array.from({ length: count }, () => message(`m${(n += 1)}`)) });
  // The server makes five custom plans before it considers a generic one.
  for (const count of [1, 200, 1, 200, 1, 200, 1, 200]) await save(count);
  const plans = await database.query<{ custom: number; generic: number }>(
    `select custom_plans::int4 as custom, generic_plans::int4 as generic from pg_prepared_statements
     where statement like 'with known%'`,
  );
  expect(plans).toEqual([{ custom: 5, generic: 3 }]);
});
