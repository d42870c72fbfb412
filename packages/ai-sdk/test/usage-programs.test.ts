import { createInMemoryStore, type CanonicalMessage } from '@intertie/core';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chatMajors } from './chats.ts';
import { call, finish, scriptedModel, text } from './scripted-model.ts';
import { complete, scriptedSource, textEvents } from './scripted-source.ts';
import { serve } from './serve.ts';
import {
  createChatHandler,
  createMessageListState,
  flushToCanonical,
  SourceChatTransport,
  toAiSdkMessages,
  updateFromStreamPart,
} from '../src/index.ts';

// Programs of the documentation, verbatim. Only the code around them belongs to the test.
describe.each(chatMajors)('$name', ({ ai, createChat }) => {
  const closing: Array<() => Promise<void>> = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  test('serves a source in a route', async () => {
    const openHarnessSource = () => scriptedSource((run) => [...textEvents(run, 'text', 'Hello'), complete]);

    const POST = createChatHandler(openHarnessSource());

    const { url, close } = await serve(POST);
    closing.push(close);
    const chat = createChat({ transport: new ai.DefaultChatTransport({ api: url }) });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hello' });
  });

  test('runs a source in the same process', async () => {
    const source = scriptedSource((run) => [...textEvents(run, 'text', 'Hello'), complete]);
    const chat = createChat({ transport: new SourceChatTransport(source, { sendReasoning: true }) });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.lastMessage?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hello' });
  });

  test('runs a custom loop from and to the store', async () => {
    const { streamText, tool } = ai;
    const store = createInMemoryStore();
    const threadId = 'trip';
    const asked: CanonicalMessage = {
      id: 'u1',
      threadId,
      role: 'user',
      type: 'text',
      content: { format: 2, parts: [{ type: 'text', text: 'Where were we?' }] },
      createdAt: new Date(0),
    };
    await store.saveMessages({ messages: [asked] });
    const model = scriptedModel(
      [call('c1', 'look', { at: 'map' }), finish('tool-calls')],
      [...text('0', 'In ', 'Lisbon.'), finish()],
    );
    const tools = { look: tool({ inputSchema: z.object({ at: z.string() }), execute: async () => 'Lisbon' }) };
    const stopWhen = ai.stepCountIs(5);
    const saved: string[] = [];

    const messages = await store.listMessages({ threadId });
    const result = streamText({ model, tools, stopWhen, messages: toAiSdkMessages(messages) });
    const state = createMessageListState({ threadId });
    for await (const part of result.fullStream) {
      updateFromStreamPart(part, state);
      const message = flushToCanonical(state);
      if (message) await store.saveMessages({ messages: [message] });
      if (message) saved.push(`${message.id === state.messageId} ${message.content.parts.length}`);
    }

    // Saved after the tool's result and at the end, under one id.
    expect(saved).toEqual(['true 1', 'true 2']);
    const stored = await store.listMessages({ threadId });
    expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(stored[1]).toMatchObject({
      status: 'complete',
      content: {
        parts: [
          { type: 'tool-invocation', toolName: 'look', state: 'result', result: 'Lisbon' },
          { type: 'text', text: 'In Lisbon.' },
        ],
      },
    });
    // The next turn reads the stored messages.
    expect(toAiSdkMessages(stored).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
  });
});
