import assert from 'node:assert/strict';

import { useChat } from '@ai-sdk/react';
import { IntertieChatTransport } from '@intertie/ai-sdk';
import { agUi, createIntertie, defineConfig, mailSwarm, model, openHarness } from 'intertie';

import { close, createRuntime, flow, registry, render, serve, model as claude, tools } from './frame.mjs';

const verify = async (header: string | null): Promise<{ id: string } | null> =>
  header === 'Bearer ada' ? { id: 'ada' } : null;

// intertie.config.ts
const config = defineConfig({
  agents: {
    helper: model(claude, { tools }),
    research: mailSwarm({ baseUrl: process.env.MAIL_BASE_URL }),
    editor: openHarness(() => createRuntime({ flow, registry })),
    remote: agUi({ url: 'https://agent.example.com/ag-ui' }),
  },
  defaultAgent: 'helper', // behind /api/chat; the first one if absent
  database: process.env.DATABASE_URL, // absent: PGlite in ./.intertie
  auth: async (request) => verify(request.headers.get('authorization')), // a principal, or null: 401
});

// The same as a fetch handler in your own server.
const intertie = await createIntertie(config);
const app = await serve((request) => intertie.fetch(request));

const threadId = 'trip';
const api = `${app.url}/api/agents/helper/chat`;
assert.equal((await fetch(api, { method: 'POST', body: '{}' })).status, 401);

const headers = { authorization: 'Bearer ada' };
const chat = render(() =>
  useChat({
    id: threadId,
    transport: new IntertieChatTransport({ api, headers }),
    resume: true,
    onError: (error) => assert.fail(error),
  }),
);
await chat.sendMessage({ text: 'Where were we?' });

for (const agent of ['helper', 'research', 'editor', 'remote']) {
  const url = `${app.url}/api/agents/${agent}/chat`;
  const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
  const body = JSON.stringify({ id: `${agent}-thread`, messages, trigger: 'submit-message' });
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  assert.match(await response.text(), /"type":"finish"/, agent);
}

await intertie.close();
app.close();
await close();
