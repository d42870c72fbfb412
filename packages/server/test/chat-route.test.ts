import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chatRoute } from '../src/agent-kinds.ts';
import { postJson, sendMessage } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

describe('chatRoute to another Intertie server', () => {
  let upstream: DemoServer;
  let slow: DemoServer;
  let server: DemoServer;
  beforeAll(async () => {
    upstream = await startDemoServer({ pace: 0.02 });
    slow = await startDemoServer({ pace: 1 });
    const agents = {
      remote: chatRoute({ api: `${upstream.url}/api/agents/helper/chat`, description: 'A route.' }),
      slow: chatRoute({ api: `${slow.url}/api/agents/helper/chat` }),
    };
    server = await startDemoServer({ agents });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all([upstream.close(), slow.close()]);
  });

  type Message = {
    id: string;
    role: string;
    status?: string;
    content: { parts: Array<{ type: string; text?: string }> };
  };
  const readMessages = async ({ url }: DemoServer, thread: string): Promise<Message[]> =>
    ((await (await fetch(`${url}/api/threads/${thread}/messages`)).json()) as { messages: Message[] }).messages;
  const readTexts = (messages: readonly Message[]): unknown =>
    messages.map(({ role, content }) => [role, content.parts.map(({ type, text }) => text ?? type)]);

  test('stores the same conversation on both servers', async () => {
    const thread = 'both';
    for (const text of ['hello', 'What is the weather in Lisbon?']) {
      const message = { id: text, role: 'user', parts: [{ type: 'text', text }] };
      await (await postJson(`${server.url}/api/agents/remote/chat`, { id: thread, message })).text();
    }
    const stored = await readMessages(server, thread);
    expect(stored).toHaveLength(4);
    expect(stored.at(-1)?.status).toBe('complete');
    expect(readTexts(await readMessages(upstream, thread))).toEqual(readTexts(stored));
  });

  test('answers a question of the other server', async () => {
    const thread = 'asked';
    const { runId } = await sendMessage(server.url, { thread, text: 'Send an email to Ada', agent: 'remote' });
    const open = await fetch(`${server.url}/api/questions?state=open&thread=${thread}`);
    const { questions } = (await open.json()) as { questions: Array<{ id: string }> };
    const answers = [{ questionId: questions[0]!.id, approved: true }];
    const answered = await postJson(`${server.url}/api/runs/${runId}/answers`, { answers });
    expect(answered.status).toBe(200);
    await vi.waitFor(async () => expect((await readMessages(server, thread)).at(-1)?.status).toBe('complete'), 10_000);
    expect(readTexts(await readMessages(upstream, thread))).toEqual(readTexts(await readMessages(server, thread)));
  });

  test('stops the run of the other server', async () => {
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Write a long answer' }] };
    const response = await postJson(`${server.url}/api/agents/slow/chat`, { id: 'stopped', message });
    const reader = response.body!.getReader();
    await reader.read();
    await vi.waitFor(async () => expect((await readMessages(slow, 'stopped')).at(-1)?.role).toBe('assistant'), 10_000);
    await postJson(`${server.url}/api/agents/slow/chat/stopped/stop`, {});
    await vi.waitFor(async () => expect((await readMessages(slow, 'stopped')).at(-1)?.status).toBe('aborted'), 10_000);
    expect((await readMessages(server, 'stopped')).at(-1)?.status).toBe('aborted');
  });

  test('serves the agent as AG-UI too', async () => {
    const messages = [{ id: 'u1', role: 'user', content: 'hello' }];
    const body = { threadId: 'as-ag-ui', runId: 'run-1', messages };
    const response = await postJson(`${server.url}/api/agents/remote/ag-ui`, body);
    expect(await response.text()).toMatch(/TEXT_MESSAGE_CONTENT.*RUN_FINISHED/s);
  });
});
