import { isDeepStrictEqual } from 'node:util';

import { HttpAgent } from '@ag-ui/client';
import { createA2AHandler } from '@intertie/a2a';
import { createAGUIHandler } from '@intertie/ag-ui';
import { Agent, createRunHost } from '@intertie/agent';
import { createChatHandler, IntertieChatTransport } from '@intertie/ai-sdk';
import { createInMemoryStore, type Loss } from '@intertie/core';
import { createOpenAIHandler } from '@intertie/openai';
import { expect, it, onTestFinished, vi } from 'vitest';

import { steppedModel } from '../../agent/test/stepped-model.ts';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { finish, text } from '../../ai-sdk/test/scripted-model.ts';
import { toVisibleMessages } from './ag-ui-protocol.ts';

/** For a busy machine. */
const waitOptions = { timeout: 30_000 };

/** Two processes: the first streams a part of a step and then shuts down, the second generates the step again after `mayEnd`. */
async function openTwo(mayEnd: Promise<void> = Promise.resolve()) {
  const store = createInMemoryStore();
  const [leaving, staying] = ['leaving', 'staying'].map((process) => createRunHost(store, { process }));
  onTestFinished(async () => {
    await Promise.all([leaving!.close(), staying!.close()]);
  });
  const first = steppedModel(async function* () {
    yield { type: 'text-start', id: '0' };
    yield { type: 'text-delta', id: '0', delta: 'Partial' };
    await new Promise(() => undefined);
  });
  const second = steppedModel(async function* () {
    await mayEnd;
    yield* [...text('0', 'Complete'), finish()];
  });
  const options = { name: 'helper', store, recover: 'step' } as const;
  const agent = new Agent({ ...options, model: first, host: leaving! });
  const other = new Agent({ ...options, model: second, host: staying! });
  await staying!.open();
  const listRuns = async () => (await store.registry.listLatestRuns(store.scope, { limit: 9 })).runs;
  const handOver = async (): Promise<void> => {
    await vi.waitFor(async () => expect(await listRuns()).toHaveLength(1), waitOptions);
    const [latest] = await listRuns();
    const run = await agent.find(latest!.run);
    for await (const item of run!.follow()) {
      if (item.type === 'events' && item.events.some(({ type }) => type === 'text-delta')) break;
    }
    await leaving!.close();
  };
  return { agent, other, handOver, listRuns };
}

it.each(chatMajors)('$name continues at its cursor after a hand-over', async ({ major, createChat }) => {
  const { agent, other, handOver } = await openTwo();
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const [send, resume] = [agent, other].map((served) => createChatHandler(served, { onLoss }));
  const fetchEither: typeof fetch = async (input, init) => {
    const request = new Request(new URL(input as string, 'http://localhost'), init);
    return (request.method === 'POST' ? send! : resume!)(request);
  };
  const transport = new IntertieChatTransport<6 | 7>({ version: major, fetch: fetchEither });
  const chat = createChat({ id: 't', transport: transport as never });
  await Promise.all([chat.sendMessage({ text: 'Go' }), handOver()]);
  await settled(chat);
  const page = chat.lastMessage!.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const { messages } = await other.history({ threadId: 't', format: 'ui' });
  expect(messages.at(-1)!.parts.filter(({ type }) => type === 'text')).toMatchObject([{ text: 'Complete' }]);
  const isLost = losses.some(({ what }) => what === 'discarded step');
  const isStored = isDeepStrictEqual(shown(chat.lastMessage), shown(messages.at(-1)));
  // `ai` 6 has no chunk that removes parts.
  expect({ page, isStored, isLost }).toEqual(
    major === 7
      ? { page: ['Complete'], isStored: true, isLost: false }
      : { page: ['Partial', 'Complete'], isStored: false, isLost: true },
  );
});

it.each(chatMajors)(
  '$name gets the rest at its next resume with DefaultChatTransport',
  async ({ major, ai, createChat }) => {
    let end = (): void => undefined;
    const { agent, other, handOver } = await openTwo(new Promise((resolve) => (end = resolve)));
    const [send, resume] = [agent, other].map((served) => createChatHandler(served));
    const fetchEither: typeof fetch = async (input, init) => {
      const request = new Request(new URL(input as string, 'http://localhost'), init);
      return (request.method === 'POST' ? send! : resume!)(request);
    };
    const headers: Record<string, string> = major === 7 ? { accept: 'text/event-stream; ai=7' } : {};
    const chat = createChat({ id: 't', transport: new ai.DefaultChatTransport({ fetch: fetchEither, headers }) });
    await Promise.all([chat.sendMessage({ text: 'Go' }), handOver()]);
    await settled(chat);
    expect(chat.status).toBe('error');
    const resumed = chat.resumeStream();
    end();
    await resumed;
    const page = chat.lastMessage!.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(page).toEqual(major === 7 ? ['Complete'] : ['Partial', 'Complete']);
  },
);

it('removes a discarded step from an AG-UI client with a snapshot', async () => {
  const { agent, other, handOver } = await openTwo();
  const run = await agent.stream({ threadId: 't', message: 'Go' });
  const handler = createAGUIHandler(other);
  const client = new HttpAgent({
    url: 'http://localhost/ag-ui',
    threadId: 't',
    fetch: async (input, init) => handler(new Request(input, init)),
  });
  const texts: string[] = [];
  const snapshots: string[] = [];
  const joined = client.runAgent(
    { runId: run.runId },
    {
      onTextMessageContentEvent: ({ event }) => void texts.push(event.delta),
      onMessagesSnapshotEvent: ({ event }) => void snapshots.push(JSON.stringify(event.messages)),
    },
  );
  await vi.waitFor(() => expect([...snapshots, ...texts].join()).toContain('Partial'), waitOptions);
  await handOver();
  await joined;
  expect(snapshots.at(-1)).not.toContain('Partial');
  const answers = toVisibleMessages(client.messages).slice(1);
  expect(answers).toMatchObject([{ role: 'assistant', content: 'Complete' }]);
});

const post = (url: string, body: unknown, headers: Record<string, string> = {}): Request =>
  new Request(`http://localhost${url}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const openaiRequests = [
  ['/v1/chat/completions', { model: 'helper', messages: [{ role: 'user', content: 'Go' }] }],
  ['/v1/responses', { model: 'helper', input: 'Go' }],
] as const;

/** Sends a request to the first process, which shuts down before the run ends in the second one. */
async function interrupt(send: (agent: Agent) => Promise<Response>) {
  let end = (): void => undefined;
  const { agent, other, handOver, listRuns } = await openTwo(new Promise((resolve) => (end = resolve)));
  const [response] = await Promise.all([send(agent), handOver()]);
  end();
  return { response, other, listRuns };
}

it.each(openaiRequests)('keeps OpenAI clients from repeating a request whose run moved (%s)', async (url, body) => {
  const { response } = await interrupt((agent) => createOpenAIHandler(agent)(post(url, body)));
  expect(response.status).toBe(503);
  expect(response.headers.get('x-should-retry')).toBe('false');
  expect(await response.json()).toMatchObject({
    error: { code: 'closing', message: expect.stringContaining('A run that can continue does so in another process') },
  });
});

it('answers a repeated OpenAI request with an idempotency key from the run that moved', async () => {
  const request = (): Request => post(...openaiRequests[0], { 'idempotency-key': 'key' });
  const { response, other, listRuns } = await interrupt((agent) => createOpenAIHandler(agent)(request()));
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([503, null]);
  const repeated = await createOpenAIHandler(other)(request());
  expect(await repeated.json()).toMatchObject({ choices: [{ message: { content: 'Complete' } }] });
  expect(await listRuns()).toHaveLength(1);
});

it('answers a repeated A2A message with the task that moved', async () => {
  const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] } };
  const request = (): Request => post('/a2a/message:send', body, { 'a2a-version': '1.0' });
  const { response, other, listRuns } = await interrupt((agent) => createA2AHandler(agent)(request()));
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('another process') } });
  const repeated = await createA2AHandler(other)(request());
  expect(await repeated.json()).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'Complete' }] }] } });
  expect(await listRuns()).toHaveLength(1);
});

it('ends an A2A stream with an error of code 503 if its run moves', async () => {
  const body = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] } };
  const { response } = await interrupt(async (agent) => {
    const streamed = await createA2AHandler(agent)(post('/a2a/message:stream', body, { 'a2a-version': '1.0' }));
    return new Response(await streamed.text());
  });
  expect((await response.text()).trim().split('\n').at(-1)).toMatch(/^data: \{"error":\{"code":503,/);
});
