import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatClients, type ChatClient, type ChatMessage } from './chat-clients.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

let server: DemoServer;
let client: OpenAI;
beforeAll(async () => {
  server = await startDemoServer({ limits: { requestsPerSecond: 10_000 } });
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(() => server.close());

const listThreads = async () => (await server.store.listThreads({ limit: 200 })).threads;

/** Sends a message after a history, and returns the history with the answer that the client shows. */
async function ask(
  { path, ask: toBody }: ChatClient,
  model: string,
  before: readonly ChatMessage[],
  text: string,
): Promise<ChatMessage[]> {
  const messages: ChatMessage[] = [...before, { role: 'user', text }];
  const body = toBody(model, messages) as never;
  const answer =
    path === '/responses'
      ? (await client.responses.stream(body).finalResponse()).output_text
      : (await client.chat.completions.stream(body).finalChatCompletion()).choices[0]!.message.content;
  return [...messages, { role: 'assistant', text: answer ?? '' }];
}

describe.each(chatClients)('$name', (chat) => {
  it.each(['helper', 'swarm', 'newsroom'])('keeps a conversation with %s in one thread', async (model) => {
    const before = (await listThreads()).length;
    const opening = await ask(chat, model, [], `Hello from ${chat.name}`);
    for (const task of chat.tasks(model, opening)) await client.post(chat.path, { body: task });
    const second = await ask(chat, model, opening, 'Second');
    await ask(chat, model, second, 'Third');
    await ask(chat, model, opening, 'Second, edited');
    const threads = await listThreads();
    expect(threads.length).toBe(before + 1);

    const threadId = threads[0]!.id;
    const branch = await server.store.listMessages({ threadId });
    expect(branch.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(JSON.stringify(branch[2]!.content)).toContain('Second, edited');
    const siblings = await server.store.listSiblings({ threadId, messageId: branch[2]!.id });
    expect(siblings).toHaveLength(2);
  });
});
