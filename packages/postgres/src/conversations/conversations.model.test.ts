import { createInMemoryStore, type MemoryStore } from '@intertie/core';
import type { MessageInput } from '@intertie/core/store';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';

import { emptyTables, openPostgres } from '../../test/databases.ts';
import { PostgresMemoryStore } from '../postgres-store.ts';

const threadId = 't1';

/** Few ids, so that calls collide: repeated and deleted messages, parents on other branches. */
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g');

const message = fc
  .record({ id, text: fc.constantFrom('Hi', 'Hi there', 'No'), parentId: fc.option(fc.option(id), { nil: undefined }) })
  .map(({ id: messageId, text, parentId }): MessageInput => {
    const content = { format: 2 as const, parts: [{ type: 'text' as const, id: 'p', text }] };
    const rest = parentId === undefined ? {} : { parentId };
    return { id: messageId, threadId, role: 'user', type: 'text', createdAt: new Date(0), content, ...rest };
  });

type Step = (store: MemoryStore) => Promise<unknown>;

const limit = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });

function given<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value });
}

const step: fc.Arbitrary<{ name: string; run: Step }> = fc.oneof(
  fc
    .record({
      messages: fc.array(message, { minLength: 1, maxLength: 3 }),
      expectedVersion: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined, freq: 4 }),
      operationKey: fc.option(fc.constantFrom('k1', 'k2'), { nil: undefined, freq: 3 }),
    })
    .map(({ messages, expectedVersion, operationKey }) => {
      const call = { messages, ...given('expectedVersion', expectedVersion), ...given('operationKey', operationKey) };
      return { name: `save ${JSON.stringify(call)}`, run: (store: MemoryStore) => store.saveMessages(call) };
    }),
  id.map((messageId) => ({
    name: `delete ${messageId}`,
    run: (store: MemoryStore) => store.deleteMessage({ threadId, messageId }),
  })),
  id.map((headId) => ({
    name: `head ${headId}`,
    run: async (store: MemoryStore) => (await store.saveThread({ thread: { id: threadId, headId } })).headId,
  })),
  fc
    .record({
      limit,
      leafId: fc.option(id, { nil: undefined }),
      cursor: fc.option(
        fc.oneof(
          id.map((before) => ({ before })),
          id.map((after) => ({ after })),
        ),
        { nil: undefined },
      ),
      orderBy: fc.constantFrom('asc' as const, 'desc' as const),
    })
    .map(({ limit: n, leafId, cursor, orderBy }) => {
      const query = { threadId, orderBy, ...given('limit', n), ...given('leafId', leafId), ...given('cursor', cursor) };
      return { name: `list ${JSON.stringify(query)}`, run: (store: MemoryStore) => store.listMessages(query) };
    }),
  fc.record({ since: fc.integer({ min: 0, max: 6 }), limit }).map(({ since, limit: n }) => {
    const query = { threadId, since, ...given('limit', n) };
    return { name: `changes ${JSON.stringify(query)}`, run: (store: MemoryStore) => store.listChanges(query) };
  }),
  id.map((messageId) => ({
    name: `siblings ${messageId}`,
    run: (store: MemoryStore) => store.listSiblings({ threadId, messageId }),
  })),
);

async function runStep(run: Step, store: MemoryStore): Promise<unknown> {
  try {
    return await run(store);
  } catch (error) {
    return { refused: (error as { code?: string }).code ?? error };
  }
}

it('behaves like the in-memory store for random calls', { timeout: 60_000 }, async () => {
  const database = await openPostgres();
  onTestFinished(() => database.close());
  const store = PostgresMemoryStore.on(database);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      await emptyTables(database);
      const model = createInMemoryStore();
      for (const { name, run } of steps) {
        expect(await runStep(run, store), name).toEqual(await runStep(run, model));
        expect(await store.getVersion({ threadId }), name).toBe(await model.getVersion({ threadId }));
      }
    }),
    { numRuns: 25 },
  );
});
