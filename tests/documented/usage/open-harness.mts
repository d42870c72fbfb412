import assert from 'node:assert/strict';

import { useChat } from '@ai-sdk/react';
import { createChatHandler } from '@intertie/ai-sdk';
import { OpenHarnessChatTransport, openHarnessSource } from '@intertie/open-harness';
import { DefaultChatTransport } from 'ai';

import { close, createRuntime, flow, registry, render, serve } from './frame.mjs';

// A flow behind a route.
const POST = createChatHandler(openHarnessSource(() => createRuntime({ flow, registry })));

const route = await serve(POST);
const page = render(() => useChat({ transport: new DefaultChatTransport({ api: route.url }) }));
await page.sendMessage({ text: 'Tea' });
route.close();

// In the same process: tests, Electron, a worker.
const here = new OpenHarnessChatTransport(() => createRuntime({ flow, registry }), {
  sendReasoning: true,
  sendStepMarkers: true,
  sendFlowMetadata: true,
  sendNodeOutputs: true,
});
const { messages, sendMessage } = render(() => useChat({ transport: here }));
assert.deepEqual(messages, []);
await sendMessage({ text: 'Tea' });

const types: string[] = [];
const chunks = await here.sendMessages({
  chatId: 'tea',
  messageId: undefined,
  trigger: 'submit-message',
  abortSignal: undefined,
  messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Tea' }] }],
});
for await (const { type } of chunks) types.push(type);
for (const type of ['reasoning-delta', 'start-step', 'data-flow-status', 'data-node-output', 'text-delta', 'finish']) {
  assert.ok(types.includes(type), type);
}

await close();
