import assert from 'node:assert/strict';

import { Agent, type MessageStore } from '@intertie/agent';
import { StoreError, type CanonicalMessage, type Thread } from '@intertie/core';
import type { MessageInput } from '@intertie/core/store';
import { createStore } from '@intertie/postgres';
import pg from 'pg';

import { close, model, tools } from './frame.mjs';

const threadId = 'trip';
const message = (id: string, text: string): MessageInput => ({
  id,
  threadId,
  role: 'user',
  type: 'text',
  createdAt: new Date(),
  content: { format: 2, parts: [{ type: 'text', text }] },
});
const getTexts = (messages: readonly CanonicalMessage[]): string[] =>
  messages.map(({ content }) => content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

// 1. Saving a different text under a known id is refused, unless it replaces the message explicitly.
const store = await createStore(process.env.DATABASE_URL ?? './.intertie');
await store.saveMessages({ messages: [message('m1', 'Hello'), message('m2', 'A train'), message('m3', 'To Porto')] });
await store.saveMessages({ messages: [message('m2', 'A train, please')] }); // extends it
await store.saveMessages({ messages: [message('m2', 'A tr')] }); // a late save of a shorter prefix: no change
await assert.rejects(
  store.saveMessages({ messages: [message('m2', 'A plane')] }),
  (error) => error instanceof StoreError && error.code === 'content-conflict',
);
const expectedVersion = await store.getVersion({ threadId });
await store.saveMessages({ messages: [message('m2', 'A plane')], mode: 'replace', expectedVersion });
assert.deepEqual(getTexts(await store.listMessages({ threadId })), ['Hello', 'A plane', 'To Porto']);

// 2. The last n, in ascending order.
const last = await store.listMessages({ threadId, limit: 2, orderBy: 'asc' });
assert.deepEqual(getTexts(last), ['A plane', 'To Porto']);

// 3. Files in any common form.
for (const data of [Buffer.from('hi'), 'aGk=', 'aGk', 'aG\nk=', 'data:text/plain;base64,aGk=']) {
  const part = { type: 'file' as const, mimeType: 'text/plain', data } as MessageInput['content']['parts'][number];
  const file = { ...message(crypto.randomUUID(), ''), content: { format: 2 as const, parts: [part] } };
  const saved = await store.saveMessages({ messages: [file] });
  assert.deepEqual(saved.messages[0]?.content.parts, [{ type: 'file', mimeType: 'text/plain', data: 'aGk=' }]);
}

// 4. Rows by SQL: the id and the time have defaults.
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
const { rows } = await client.query(
  `insert into intertie.conversation_message (thread_id, seq, version, role, type, status, content)
   values (gen_random_uuid(), 1, 1, 'user', 'text', 'complete', '{"format":2,"parts":[]}') returning id, created_at`,
);
assert.equal(typeof rows[0].id, 'string');
assert.ok(rows[0].created_at instanceof Date);
await client.end();

// 5. An agent on a store with four methods, in one process and then in another.
const messages = new Map<string, string>();
const threads = new Map<string, Thread>();
const createOwnStore = (): MessageStore => ({
  listMessages: async (query) =>
    [...messages.values()]
      .map((row) => JSON.parse(row) as CanonicalMessage)
      .filter((row) => row.threadId === query.threadId)
      .slice(-(query.limit ?? Infinity)),
  saveMessages: async (request) => {
    for (const row of request.messages) messages.set(row.id, JSON.stringify(row));
  },
  getThreadById: async (query) => threads.get(query.threadId) ?? null,
  saveThread: async ({ thread }) => threads.set(thread.id, thread),
});
for (const turn of [1, 2]) {
  const agent = new Agent({ model, tools, store: createOwnStore(), storeReasoning: 'signatures' });
  const { text } = await agent.generate({ threadId, message: 'Where were we?' });
  assert.equal(text, 'In Lisbon.');
  assert.equal(messages.size, 2 * turn);
  await agent.close();
}

await store.close();
await close();
