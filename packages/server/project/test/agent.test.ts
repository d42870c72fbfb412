import { createInMemoryStore } from '@intertie/core';
import { createIntertie } from 'intertie';
import { afterAll, beforeAll, expect, it } from 'vitest';
import config from '../intertie.config.ts';

// The server without a port, and with a store in memory.
let intertie: Awaited<ReturnType<typeof createIntertie>>;
beforeAll(async () => {
  intertie = await createIntertie({ ...config, database: createInMemoryStore() });
});
afterAll(() => intertie.close());

it('answers a message and stores it with the answer', async () => {
  const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
  const body = JSON.stringify({ id: 'thread', messages });
  const answer = await intertie.fetch(new Request('http://localhost/api/chat', { method: 'POST', body }));
  expect(await answer.text()).toContain('"type":"finish"');

  const history = await intertie.fetch(new Request('http://localhost/api/threads/thread/messages?format=ui'));
  expect(await history.json()).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant' }] });
}, 30_000);
