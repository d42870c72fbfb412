import assert from 'node:assert/strict';

import type { Message, RunAgentInput } from '@ag-ui/core';
import { useChat } from '@ai-sdk/react';
import {
  AGUIChatTransport,
  AgentsToAGUIAdapter,
  createAGUIHandler,
  fromAGUIMessages,
  toAGUI,
  toAGUIResponse,
  type AGUIEvent,
} from '@intertie/ag-ui';
import { modelSource } from '@intertie/ai-sdk';
import { stepCountIs, streamText } from 'ai';

import { close, model, render, serve, tools } from './frame.mjs';

const inputMessages: Message[] = [{ id: 'u1', role: 'user', content: 'Where were we?' }];
const stopWhen = stepCountIs(5);
const ask = () => streamText({ model, messages: fromAGUIMessages(inputMessages), tools, stopWhen });
const sent: string[] = [];
const ws = { send: (frame: string): void => void sent.push(frame) };

// 1. Over a WebSocket, with the positional signature.
const adapter = new AgentsToAGUIAdapter();
const stream = ask();
for await (const event of adapter.adaptStreamToAGUI(stream, 'thread-1', 'run-2', inputMessages, 'run-1', {
  count: 0,
})) {
  ws.send(JSON.stringify(event));
}
const readTypes = (frames: string[]): string[] => frames.map((frame) => (JSON.parse(frame) as AGUIEvent).type);
const types = readTypes(sent);
assert.deepEqual(types.slice(0, 3), ['RUN_STARTED', 'STATE_SNAPSHOT', 'STEP_STARTED']);
assert.deepEqual(types.slice(-2), ['MESSAGES_SNAPSHOT', 'RUN_FINISHED']);

// 2. A wrapper that adds its own events.
async function* withProgress(...args: Parameters<AgentsToAGUIAdapter['adaptStreamToAGUI']>): AsyncGenerator<AGUIEvent> {
  for await (const event of new AgentsToAGUIAdapter().adaptStreamToAGUI(...args)) {
    yield event;
    if (event.type === 'STEP_STARTED') {
      yield { type: 'CUSTOM', name: 'progress', value: { step: event.stepName }, timestamp: Date.now() };
    }
  }
}
let progress = 0;
for await (const event of withProgress(ask())) if (event.type === 'CUSTOM') progress += 1;
assert.ok(progress > 1);

// 3. One line in a route with streamText.
const routed = await serve(async (request) => {
  const input = (await request.json()) as RunAgentInput;
  const result = streamText({ model, messages: fromAGUIMessages(input.messages), tools, stopWhen });
  return toAGUIResponse(result, { input });
});
const input = { threadId: 't', runId: 'r', messages: inputMessages, tools: [], context: [], state: {} };
const body = JSON.stringify(input);
const response = await fetch(routed.url, { method: 'POST', body });
assert.match(await response.text(), /"RUN_FINISHED"/);
routed.close();
let events = 0;
for await (const _ of toAGUI(ask(), { input })) events += 1;
assert.ok(events > 5);

// A complete endpoint, and a client.
const POST = createAGUIHandler(modelSource(model, { tools }));
const answered = await POST(new Request('http://localhost/ag-ui', { method: 'POST', body }));
assert.match(await answered.text(), /Lisbon/);
const chat = render(() =>
  useChat({
    transport: new AGUIChatTransport({ url: 'https://agent.example.com/ag-ui' }),
    onError: (error) => assert.fail(error),
    onFinish: ({ message }) => assert.equal(message.parts.at(-1)?.type, 'text'),
  }),
);
await chat.sendMessage({ text: 'Where were we?' });

await close();
