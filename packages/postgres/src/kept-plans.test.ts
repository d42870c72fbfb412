import type { MessageInput } from '@intertie/core';
import { expect, it, onTestFinished } from 'vitest';

import { counting } from '../test/counting.ts';
import { openPostgres } from '../test/databases.ts';
import { PostgresMemoryStore } from './postgres-store.ts';

function message(id: string, parentId?: string): MessageInput {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text: id }] };
  const rest = parentId === undefined ? {} : { parentId };
  return { id, threadId: 't', role: 'user', type: 'text', createdAt: new Date(0), content, ...rest };
}

it('plans that are kept read no table as a whole, even if they were made when it was empty', async () => {
  const { database, calls } = counting(await openPostgres());
  const store = PostgresMemoryStore.on(database);
  onTestFinished(() => store.close());
  await store.saveMessages({ messages: [message('m1'), message('m2')], operationKey: 'once' });
  await store.saveMessages({ messages: [message('m3', 'm1')] });
  await store.listMessages({ threadId: 't', limit: 2 });
  for (const cursor of [{ before: 'm3' }, { after: 'm1' }]) await store.listMessages({ threadId: 't', cursor });
  const kept = new Set(calls.filter(({ options }) => options?.keepPlan).map(({ text }) => text));
  expect(kept.size).toBeGreaterThan(4);
  for (const text of kept) {
    const rows = await database.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`);
    expect(rows.map((row) => row['QUERY PLAN']).filter((line) => line.includes('Seq Scan'))).toEqual([]);
  }
});
