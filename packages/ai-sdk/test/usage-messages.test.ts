import { createInMemoryStore } from '@intertie/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createMessageListState, flushToCanonical, toAiSdkMessages, updateFromStreamPart } from '../src/index.ts';
import { call, finish, majors, scriptedModel, text } from './scripted-model.ts';

describe.each(majors)('the program of usage.md on $name', ({ ai }) => {
  test('stores a conversation while it streams and sends it as history', async () => {
    const { streamText } = ai;
    const threadId = 'trip';
    const store = createInMemoryStore();
    const tools = { add: ai.tool({ inputSchema: z.object({ a: z.number() }), execute: async ({ a }) => a + 1 }) };
    await store.saveThread({ thread: { id: threadId } });
    const send = (id: string, value: string) =>
      store.saveMessages({
        messages: [
          {
            id,
            threadId,
            role: 'user',
            type: 'text',
            createdAt: new Date(0),
            content: { format: 2, parts: [{ type: 'text', text: value }] },
          },
        ],
      });
    const answer = async (model: ReturnType<typeof scriptedModel>) => {
      const messages = toAiSdkMessages(await store.listMessages({ threadId }));
      const result = streamText({ model, messages, tools, stopWhen: ai.stepCountIs(3) });
      const state = createMessageListState({ threadId });
      for await (const part of result.fullStream) {
        updateFromStreamPart(part, state);
        const message = flushToCanonical(state);
        if (message) await store.saveMessages({ messages: [message] });
      }
    };
    await send('u1', 'One more than one?');
    await answer(scriptedModel([call('0', 'add', { a: 1 }), finish('tool-calls')], [...text('0', 'Two.'), finish()]));
    await send('u2', 'And than two?');
    await answer(scriptedModel([call('0', 'add', { a: 2 }), finish('tool-calls')], [...text('0', 'Three.'), finish()]));
    await send('u3', 'Thanks.');
    const last = scriptedModel([...text('0', 'Any time.'), finish()]);
    await answer(last);

    const saved = await store.listMessages({ threadId });
    expect(saved.flatMap(({ role, status }) => (role === 'assistant' ? [status] : []))).toEqual(
      Array.from({ length: 3 }, () => 'complete'),
    );
    // The model uses the call id "0" in every answer. Each call is sent with its own result.
    const { prompt } = last.doStreamCalls[0]!;
    expect(prompt.map(({ role }) => role).join(' ')).toBe(
      'user assistant tool assistant user assistant tool assistant user',
    );
    const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
    expect(results).toMatchObject([{ output: { value: 2 } }, { output: { value: 3 } }]);
    expect(new Set(results.map((part) => (part.type === 'tool-result' ? part.toolCallId : ''))).size).toBe(2);
  });
});
