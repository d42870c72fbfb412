import { expect, it } from 'vitest';

import type { MessageInput } from '../store.ts';
import { createInMemoryStore } from './in-memory-store.ts';

// The store contract of `@intertie/conformance` covers the behavior of all stores; these cases are specific to this one.

const day = 24 * 60 * 60 * 1000;

function message(id: string): MessageInput {
  const content = { format: 2 as const, parts: [] };
  return { id, threadId: 't1', role: 'user', type: 'text', createdAt: new Date(0), content };
}

it('uses the scope `local` by default', () => {
  expect(createInMemoryStore().scope).toBe('local');
  expect(createInMemoryStore({ scope: 'ada' }).forScope('bob').scope).toBe('bob');
  expect(() => createInMemoryStore({ scope: '' })).toThrow('1 to 256 bytes');
});

it('uses the given clock and id generator', async () => {
  let id = 0;
  const store = createInMemoryStore({ now: () => 1_000, generateId: () => `id-${++id}` });
  await store.saveMessages({ messages: [message('m1')] });
  expect(await store.getThreadById({ threadId: 't1' })).toMatchObject({ createdAt: new Date(1_000) });
  const started = await store.registry.start(store.scope, {
    threadId: 't1',
    runId: 'r1',
    agent: 'helper',
    process: 'p1',
    message: message('m1'),
    messageId: 'a1',
    busy: 'reject',
    pending: 'reject',
  });
  expect(started).toMatchObject({ type: 'started', run: { key: 'id-2', createdAt: new Date(1_000) } });
  expect(await store.getMessage({ threadId: 't1', messageId: 'id-1' })).toMatchObject({ clientId: 'm1' });
});

it('forgets operation keys after a day', async () => {
  let now = 0;
  const store = createInMemoryStore({ now: () => now });
  await store.saveMessages({ messages: [message('m1')], operationKey: 'k' });
  now = day - 1;
  await expect(store.saveMessages({ messages: [message('m2')], operationKey: 'k' })).rejects.toThrow(
    'used for another',
  );
  now = day;
  await store.saveMessages({ messages: [message('m2')], operationKey: 'k' });
  expect(await store.listMessages({ threadId: 't1' })).toHaveLength(2);
});
