import { createChatHandler } from '@intertie/ai-sdk';
import { createInMemoryStore } from '@intertie/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { call, finish, text } from '../../ai-sdk/test/scripted-model.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { Agent } from '../src/agent/agent.ts';
import { gate } from './test-stores.ts';
import { steppedModel } from './stepped-model.ts';

const never = new Promise<void>(() => {});

describe.each(chatMajors)('a chat of $name with an agent', ({ ai, createChat }) => {
  async function open(agent: Agent) {
    const server = await serve(createChatHandler(agent));
    onTestFinished(async () => {
      await server.close();
      await agent.close();
    });
    const transport = new ai.DefaultChatTransport({ api: `${server.url}/chat` });
    return () =>
      createChat({
        id: 't',
        transport,
        sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
      });
  }
  const getText = (message: { parts: object[] } | undefined): string =>
    (message?.parts ?? []).map((part) => ('text' in part ? String(part.text) : '')).join('');

  it('stores the partial answer when the user stops and sends again', async () => {
    const model = steppedModel(
      async function* () {
        yield* text('0', 'Half').slice(0, 2);
        await never;
      },
      () => [...text('0', 'Whole'), finish()],
    );
    const agent = new Agent({ model, store: createInMemoryStore() });
    const chat = (await open(agent))();
    void chat.sendMessage({ text: 'One' });
    await expect.poll(() => getText(chat.lastMessage)).toBe('Half');
    await chat.stop();
    await chat.sendMessage({ text: 'Two' });
    expect(getText(chat.lastMessage)).toBe('Whole');
    const { messages } = await agent.history({ threadId: 't' });
    expect(messages.map(({ status }) => status)).toEqual(['complete', 'aborted', 'complete', 'complete']);
  });

  it('resumes the stream after a reload', async () => {
    const proceed = gate();
    const model = steppedModel(async function* () {
      yield* text('0', 'To be ', 'continued').slice(0, 2);
      await proceed.opened;
      yield* text('0', 'To be ', 'continued').slice(2);
      yield finish();
    });
    const newChat = await open(new Agent({ model, store: createInMemoryStore() }));
    const before = newChat();
    void before.sendMessage({ text: 'One' });
    await expect.poll(() => getText(before.lastMessage)).toBe('To be ');
    await before.stop();
    const after = newChat();
    after.messages = before.messages.slice(0, 1);
    const reading = after.resumeStream();
    await expect.poll(() => getText(after.lastMessage)).toContain('To be ');
    proceed.open();
    await reading;
    expect(getText(after.lastMessage)).toBe('To be continued');
  });

  it('continues the same message after an approval', async () => {
    let paid = 0;
    const model = steppedModel(
      () => [call('c1', 'pay'), finish('tool-calls')],
      () => [...text('0', 'Paid'), finish()],
    );
    const pay = { inputSchema: z.object({}), needsApproval: true, execute: async () => ++paid };
    const chat = (await open(new Agent({ model, store: createInMemoryStore(), tools: { pay } })))();
    await chat.sendMessage({ text: 'Pay' });
    const asked = chat.lastMessage?.parts.find((part) => 'approval' in part) as { approval: { id: string } };
    await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
    await expect.poll(() => getText(chat.lastMessage)).toBe('Paid');
    expect(paid).toBe(1);
    expect(chat.messages).toHaveLength(2);
  });
});
