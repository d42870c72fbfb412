import { uiMessageStreamSource } from '@intertie/ai-sdk';
import { createInMemoryStore, foldEvents, type AgentEvent, type CanonicalMessage } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import type { UIMessage } from 'ai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';

import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { call, collect, finish, majors, runInput, scriptedModel, text } from '../../ai-sdk/test/scripted-model.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { runControl } from '../../core/test/run-control.ts';
import { Agent } from '../src/agent/agent.ts';
import { steppedModel } from './stepped-model.ts';

type Ai = (typeof majors)[number]['ai'];
type Model = Parameters<Ai['streamText']>[0]['model'];
type Body = { id: string; messages: UIMessage[]; trigger: string; messageId?: string };

const toolSet = (ai: Ai) => ({
  weather: ai.tool({ inputSchema: z.object({}), execute: async () => 'sunny' }),
  locate: ai.tool({ inputSchema: z.object({}) }),
  delete: ai.tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'deleted' }),
});

/** Serves a chat route like those of the AI SDK's documentation. Records request bodies and aborts. */
async function startRoute(ai: Ai, model: Model) {
  const requests: Body[] = [];
  const aborted = vi.fn<() => void>();
  let count = 0;
  const { url } = await startServer(async (request) => {
    const body = (await request.json()) as Body;
    requests.push(body);
    request.signal.addEventListener('abort', aborted);
    const tools = toolSet(ai);
    const messages = await ai.convertToModelMessages(body.messages, { tools });
    const stopWhen = ai.stepCountIs(5);
    const result = ai.streamText({
      model,
      messages,
      tools,
      stopWhen,
      abortSignal: request.signal,
      onError: () => undefined,
    });
    return result.toUIMessageStreamResponse({
      originalMessages: body.messages,
      generateMessageId: () => `route-${count++}`,
      onError: (error) => (error as Error).message,
    });
  });
  return { api: `${url}/api/chat`, requests, aborted };
}

async function startServer(handler: Parameters<typeof serve>[0]) {
  const served = await serve(handler);
  onTestFinished(() => served.close());
  return served;
}

const createAgent = (api: string): Agent => {
  const agent = new Agent({ source: uiMessageStreamSource({ api }), store: createInMemoryStore() });
  onTestFinished(() => agent.close());
  return agent;
};

const ask = (agent: Agent, message: string) => agent.generate({ threadId: 't', message });

async function answer(agent: Agent, answers: Parameters<Agent['answer']>[1]): Promise<CanonicalMessage> {
  const run = await agent.stream({ threadId: 't', answers });
  return run.message;
}

/** Messages without the ids of user messages, which clients choose. */
const withoutUserIds = (messages: readonly UIMessage[]): unknown =>
  messages.map(({ id, ...message }) => (message.role === 'user' ? message : { id, ...message }));

describe.each(majors)('a chat route of $name', ({ ai, major }) => {
  it('gets the requests that useChat would send', async () => {
    const steps = [
      [...text('0', 'Let me look.'), call('c1', 'weather'), finish('tool-calls')],
      [...text('0', 'Sunny.'), finish()],
      [...text('0', 'Bye.'), finish()],
    ];
    const direct = await startRoute(ai, scriptedModel(...steps));
    const transport = new ai.DefaultChatTransport({ api: direct.api });
    const { createChat } = chatMajors.find((chat) => chat.major === major)!;
    const chat = createChat({ id: 't', transport });
    await chat.sendMessage({ text: 'Weather?' });
    await chat.sendMessage({ text: 'Thanks.' });

    const route = await startRoute(ai, scriptedModel(...steps));
    const agent = createAgent(route.api);
    expect((await ask(agent, 'Weather?')).message).toMatchObject({
      status: 'complete',
      content: {
        parts: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool-invocation', toolName: 'weather', state: 'result', result: 'sunny' },
          { type: 'text', text: 'Sunny.' },
        ],
      },
    });
    expect((await ask(agent, 'Thanks.')).text).toBe('Bye.');
    const [sent, expected] = [route.requests[1]!, direct.requests[1]!];
    expect(withoutUserIds(sent.messages)).toEqual(withoutUserIds(expected.messages));
    expect({ ...sent, messages: [] }).toEqual({ ...expected, messages: [] });
  });

  it('continues with the output of a client tool, in the same message', async () => {
    const model = scriptedModel([call('c1', 'locate'), finish('tool-calls')], [...text('0', 'In Rome.'), finish()]);
    const route = await startRoute(ai, model);
    const agent = createAgent(route.api);
    // The route repeats the id of a call in the second turn.
    for (const turn of [1, 2]) {
      const { message } = await ask(agent, 'Where am I?');
      expect(message.status).toBe('paused');
      const { toolCallId } = message.content.parts.at(-1) as { toolCallId: string };
      const continued = await answer(agent, [{ toolCallId, status: 'ok', output: 'Rome' }]);
      expect(continued).toMatchObject({ id: message.id, status: 'complete' });
      const { messages, messageId, trigger } = route.requests[turn * 2 - 1]!;
      expect([messageId, trigger]).toEqual([messages.at(-1)!.id, 'submit-message']);
      expect(messages.at(-1)).toMatchObject({
        id: `route-${turn - 1}`,
        parts: [{ type: 'step-start' }, { toolCallId: 'c1', state: 'output-available', output: 'Rome' }],
      });
      expect(continued.content.parts).toMatchObject([{ state: 'result', result: 'Rome' }, { text: 'In Rome.' }]);
      model.doStream = scriptedModel(
        [call('c1', 'locate'), finish('tool-calls')],
        [...text('0', 'In Rome.'), finish()],
      ).doStream;
    }
  });

  it.each([
    [true, { state: 'result', result: 'deleted' }],
    [false, { state: 'denied' }],
  ])('gets the response to an approval: %s', async (approved, result) => {
    const steps = [
      [call('c1', 'delete'), finish('tool-calls')],
      [...text('0', 'Done.'), finish()],
    ];
    const route = await startRoute(ai, scriptedModel(...steps));
    const agent = createAgent(route.api);
    const { message } = await ask(agent, 'Delete it.');
    const [part] = message.content.parts;
    const { questionId } = (part as { approval: { questionId: string } }).approval;
    const continued = await answer(agent, [{ questionId, approved, ...(!approved && { reason: 'Not today.' }) }]);
    expect(route.requests[1]!.messages.at(-1)!.parts.at(-1)).toMatchObject({
      state: 'approval-responded',
      approval: { id: questionId, approved },
    });
    expect(continued.status).toBe('complete');
    expect(continued.content.parts).toMatchObject([result, { text: 'Done.' }]);
  });

  it('notices a stop, and gets its own message id afterwards', async () => {
    const model = steppedModel(
      async function* () {
        yield* text('0', 'Hello.');
        await new Promise(() => undefined);
      },
      () => [...text('0', 'Again.'), finish()],
    );
    const route = await startRoute(ai, model);
    const agent = createAgent(route.api);
    const run = await agent.stream({ threadId: 't', message: 'Go' });
    for await (const event of run.events) if (event.type === 'text-delta') await run.stop();
    await vi.waitFor(() => expect(route.aborted).toHaveBeenCalled());
    expect((await run.message).status).toBe('aborted');
    await ask(agent, 'Again');
    expect(route.requests[1]!.messages.map(({ role, id }) => (role === 'user' ? role : id))).toEqual([
      'user',
      'route-0',
      'user',
    ]);
  });

  it('ends the run with the text of an error', async () => {
    const model = steppedModel(() => {
      throw new Error('The model is away.');
    });
    const route = await startRoute(ai, model);
    const { message } = await ask(createAgent(route.api), 'Go');
    expect(message).toMatchObject({ status: 'error' });
    expect(JSON.stringify(message.content.runs)).toContain('The model is away.');
  });
});

describe('a response that is not a complete UI message stream', () => {
  const chunks = ['{"type":"start"}', '{"type":"text-start","id":"0"}', '{"type":"text-delta","id":"0","delta":"Hi"}'];
  const sse = { headers: { 'content-type': 'text/event-stream' } };

  it.each([
    ['its text', new Response('Not here.', { status: 404 }), 'responded with status 404: Not here.'],
    ['its JSON message', Response.json({ error: 'No key.' }, { status: 401 }), 'status 401: No key.'],
    [
      'another format',
      new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      'toUIMessageStreamResponse',
    ],
    [
      'a cut stream',
      new Response(chunks.map((chunk) => `data: ${chunk}\n\n`).join(''), sse),
      'ended before the run did',
    ],
  ])('ends the run with an error: %s', async (_, response, message) => {
    const fetch = async (): Promise<Response> => response;
    const source = uiMessageStreamSource({ api: 'http://route.test/api/chat', fetch });
    const events = await collect(source.run(runInput(), runControl()));
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error' });
    expect(JSON.stringify(events.at(-1))).toContain(message);
  });

  it('ends the run with an error that names a route that cannot be reached', async () => {
    const source = uiMessageStreamSource({ api: 'http://127.0.0.1:1/api/chat' });
    const events = await collect(source.run(runInput(), runControl()));
    expect(JSON.stringify(events.at(-1))).toContain('Cannot reach the chat route http://127.0.0.1:1/api/chat');
  });

  it('waits for the client if a route finishes without a reason', async () => {
    const call1 = '{"type":"tool-input-available","toolCallId":"c","toolName":"locate","input":{}}';
    const body = ['{"type":"start"}', call1, '{"type":"finish"}'].map((chunk) => `data: ${chunk}\n\n`).join('');
    const source = uiMessageStreamSource({ api: 'http://route.test/', fetch: async () => new Response(body, sse) });
    const events = await collect(source.run(runInput(), runControl()));
    expect(events.at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'tool', toolCallId: 'c' }] });
  });
});

describe.each(majors)('resuming a run of a chat route of $name', ({ ai }) => {
  /** Streams of a route by chat id, as `resumable-stream` stores them. */
  const streams = new Map<string, string>();
  const steps = [
    [...text('0', 'Let ', 'me ', 'look.'), call('c1', 'weather'), finish('tool-calls')],
    [...text('0', 'It is ', 'sunny.'), finish()],
  ];

  async function openSource(): Promise<ReturnType<typeof uiMessageStreamSource>> {
    const { api } = await startRoute(ai, scriptedModel(...steps));
    const fetch: typeof globalThis.fetch = async (url, init) => {
      if (init?.method === 'POST') {
        const response = await globalThis.fetch(url, init);
        const body = await response.text();
        streams.set('thread-1', body);
        return new Response(body, response);
      }
      expect(url).toBe(`${api}/thread-1/stream`);
      const body = streams.get('thread-1');
      return body === undefined
        ? new Response(null, { status: 204 })
        : new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    return uiMessageStreamSource({ api, fetch });
  }

  const user: CanonicalMessage = {
    id: 'u1',
    threadId: 'thread-1',
    role: 'user',
    type: 'text',
    content: { format: 2, parts: [{ type: 'text', text: 'Weather?' }] },
    createdAt: new Date(0),
  };
  const input = runInput({ history: [user] });
  const toMessage = (events: readonly AgentEvent[]): CanonicalMessage => ({
    ...user,
    content: foldEvents(events) as never,
  });

  it('continues after any event without repeating or losing one', async () => {
    const source = await openSource();
    const all = await collect(source.run(input, runControl()));
    expect(all.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    for (let length = 1; length < all.length; length += 1) {
      const from = { events: all.slice(0, length), message: toMessage(all.slice(0, length)), open: [] };
      const rest = await collect(source.resume!({ ...input, epoch: 2 }, from, runControl()));
      const plain = (events: AgentEvent[]) => events.map((event) => omit(event, 'at'));
      expect(plain(rest)).toEqual(plain(all.slice(length)));
    }
  });

  it('ends as lost if the route has no stream', async () => {
    const source = await openSource();
    streams.clear();
    const from = { events: [], message: user, open: [] };
    const [end] = (await collect(source.resume!({ ...input, epoch: 2 }, from, runControl()))).slice(-1);
    expect(end).toMatchObject({ outcome: 'error', error: { code: 'lost' } });
    expect(JSON.stringify(end)).toContain('has no stream to resume (status 204)');
    // Clients see the error.
    expect(JSON.stringify(end)).not.toContain('http');
  });
});
