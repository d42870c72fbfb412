import { Agent, createRunHost } from '@intertie/agent';
import { createChatHandler, IntertieChatTransport } from '@intertie/ai-sdk';
import { createInMemoryStore } from '@intertie/core';
import { jsonSchema, tool } from 'ai';
import { expect, it, onTestFinished, vi } from 'vitest';

import { steppedModel } from '../../agent/test/stepped-model.ts';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { call, finish, text } from '../../ai-sdk/test/scripted-model.ts';

// `sendAutomaticallyWhen` of `useChat` waits until no call of the last step is incomplete.
it.each(chatMajors)(
  '$name sends the result of a tool although a takeover has cut off a parallel call',
  async ({ major, ai, createChat }) => {
    const store = createInMemoryStore();
    const [leaving, staying] = ['leaving', 'staying'].map((process) => createRunHost(store, { process }));
    onTestFinished(async () => {
      await Promise.all([leaving!.close(), staying!.close()]);
    });
    const first = steppedModel(async function* () {
      yield call('c1', 'locate');
      yield { type: 'tool-input-start', id: 'c2', toolName: 'locate' };
      yield { type: 'tool-input-delta', id: 'c2', delta: '{"q":"par' };
      await new Promise(() => undefined);
    });
    const second = steppedModel(() => [...text('0', 'You are in Lisbon.'), finish()]);
    const tools = { locate: tool({ inputSchema: jsonSchema<object>({ type: 'object' }) }) };
    const options = { name: 'helper', store, tools, recover: 'step' } as const;
    const agents = [
      new Agent({ ...options, model: first, host: leaving! }),
      new Agent({ ...options, model: second, host: staying! }),
    ];
    await staying!.open();
    let [handler, other] = agents.map((agent) => createChatHandler(agent));
    const transport = new IntertieChatTransport<6 | 7>({
      version: major,
      fetch: async (input, init) => {
        const request = new Request(new URL(input as string, 'http://localhost'), init);
        return (request.method === 'POST' ? handler! : other!)(request);
      },
    });
    const sendAutomaticallyWhen = ai.lastAssistantMessageIsCompleteWithToolCalls as never;
    const chat = createChat({ id: 't', transport: transport as never, sendAutomaticallyWhen });
    const sent = chat.sendMessage({ text: 'Where am I?' });
    await vi.waitFor(() => expect(JSON.stringify(shown(chat.lastMessage))).toContain('par'), { timeout: 30_000 });
    await leaving!.close();
    handler = other;
    await sent;
    await settled(chat);
    await chat.addToolOutput({ tool: 'locate', toolCallId: 'c1', output: 'Lisbon' });
    await settled(chat);
    const texts = chat.lastMessage!.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts).toEqual(['You are in Lisbon.']);
  },
);
