import { IntertieChatTransport } from '@intertie/ai-sdk';
import type { UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { postJson } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let server: DemoServer;
beforeAll(async () => {
  server = await startDemoServer({ pace: 0.3, limits: { requestsPerSecond: 10_000 } });
});
afterAll(() => server.close());

const stored = async (thread: string): Promise<UIMessage[]> => {
  for (;;) {
    const response = await fetch(`${server.url}/api/threads/${thread}/messages?format=ui`);
    const { messages, live } = (await response.json()) as { messages: UIMessage[]; live?: unknown };
    if (!live) return messages;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const waitUntil = async (isDone: () => boolean): Promise<void> => {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe.each(chatMajors)('$name', ({ ai, createChat, createHookChat }) => {
  /** Transport of a bare `useChat()`, which posts to `/api/chat` of its own origin. */
  const bare = (): InstanceType<typeof ai.DefaultChatTransport> =>
    new ai.DefaultChatTransport({ fetch: (path, init) => fetch(new URL(path as string, server.url), init) });

  test('resumes a bare useChat after a cut', async () => {
    const thread = crypto.randomUUID();
    const chat = createChat({ id: thread, transport: bare() });
    const sent = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => shown(chat.lastMessage).length > 2);
    await postJson(`${server.url}/api/dev/wire`, { thread, cut: true });
    await sent;
    expect(chat.status).toBe('error');
    await chat.resumeStream();
    await settled(chat);
    expect(shown(chat.lastMessage)).toEqual(shown((await stored(thread)).at(-1)));
  });

  test('shows the history in a reloaded page and resumes the answer in progress', async () => {
    const thread = crypto.randomUUID();
    const before = createChat({ id: thread, transport: bare() });
    const sent = before.sendMessage({ text: 'hello' });
    await waitUntil(() => shown(before.lastMessage).length > 2);
    const { messages } = (await (await fetch(`${server.url}/api/threads/${thread}/messages?format=ui`)).json()) as {
      messages: UIMessage[];
    };
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    const reloaded = createHookChat({ id: thread, messages, transport: bare() });
    await reloaded.resumeStream();
    await settled(reloaded);
    await sent;
    expect(reloaded.messages).toHaveLength(2);
    expect(shown(reloaded.lastMessage)).toEqual(shown((await stored(thread)).at(-1)));
    // The run has just ended, so its whole message is streamed again and must not be duplicated.
    await reloaded.resumeStream();
    expect(reloaded.messages).toHaveLength(2);
  });

  test('hides cuts and stops the run with our transport', async () => {
    const thread = crypto.randomUUID();
    const queries: string[] = [];
    const transport = new IntertieChatTransport({
      api: `${server.url}/api/agents/helper/chat`,
      fetch: (url, init) => {
        if (init?.method === 'GET') queries.push(new URL(url as string).search);
        return fetch(url, init);
      },
    });
    const chat = createChat({ id: thread, transport });
    const sent = chat.sendMessage({ text: 'Write a long answer' });
    await waitUntil(() => shown(chat.lastMessage).length > 2);
    for (let cuts = 0; cuts < 3; cuts++) {
      const length = JSON.stringify(chat.lastMessage).length;
      await postJson(`${server.url}/api/dev/wire`, { thread, cut: true });
      await waitUntil(() => JSON.stringify(chat.lastMessage).length > length + 20);
    }
    expect(chat.status).toBe('streaming');
    // Each request resumes after the last chunk, not from the start.
    expect(queries).toHaveLength(3);
    for (const query of queries) expect(query).toMatch(/[?&]after=[^&]+\.\d+\.\d+/);
    expect(new Set(queries).size).toBe(3);
    await chat.stop();
    await sent;
    const messages = await stored(thread);
    expect(messages.at(-1)?.metadata).toMatchObject({ intertie: { status: 'aborted' } });
    const text = (message: UIMessage | undefined): string =>
      (message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('');
    // The text that the chat has read is a prefix of the stored text.
    expect(text(messages.at(-1)).startsWith(text(chat.lastMessage))).toBe(true);
  });
});
