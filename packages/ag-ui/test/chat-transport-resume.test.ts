import { Agent } from '@intertie/agent';
import { createInMemoryStore, type AgentEvent, type AgentSource } from '@intertie/core';
import type { ChatInit, UIMessage } from 'ai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatMajors, settled, shown } from '../../ai-sdk/test/chats.ts';
import { complete, scriptedSource, textEvents } from '../../ai-sdk/test/scripted-source.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { AGUIChatTransport } from '../src/client/ag-ui-chat-transport.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import type { DurableAGUIHandlerOptions } from '../src/server/ag-ui-handler-options.ts';
import { createScript } from './durable-run-script.ts';
import { handDriven } from './hand-driven-agent.ts';

type Gate = { open(): void; opened: Promise<void> };

function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => void (open = resolve));
  return { open: () => open(), opened };
}

const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 2, timeout: 5000 });

const copy = (messages: UIMessage[]): UIMessage[] => JSON.parse(JSON.stringify(messages)) as UIMessage[];

const approval: AgentEvent[] = [
  { type: 'tool-call', toolCallId: 'c', toolName: 'rm', input: {}, executor: 'runtime' },
  { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
  { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
];

describe.each(chatMajors)('$name resuming a durable run over AG-UI', ({ major, ai, ...majors }) => {
  type Chat = ReturnType<typeof majors.createHookChat>;
  type Server = { agent: Agent; url: string; chat(messages?: UIMessage[]): Chat; detached(): Chat };

  const chatAt = (url: string, init: Partial<ChatInit<UIMessage>> = {}, stopOnAbort = true): Chat =>
    majors.createHookChat({
      id: 'thread-1',
      transport: new AGUIChatTransport({ url, version: major, stopOnAbort }) as never,
      sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
      ...init,
    });

  async function start(source: AgentSource, options: DurableAGUIHandlerOptions = {}): Promise<Server> {
    const agent = new Agent({ source, store: createInMemoryStore() });
    const served = await serve(createAGUIHandler(agent, options));
    onTestFinished(async () => {
      await served.close();
      await agent.close();
    });
    const { url } = served;
    return { agent, url, chat: (messages = []) => chatAt(url, { messages }), detached: () => chatAt(url, {}, false) };
  }

  const getTexts = (chat: Chat): string[] =>
    chat.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));

  it.each(['nothing', 'a part'])('shows the complete answer once after it had %s of it', async (had) => {
    const proceed = gate();
    const source = scriptedSource(
      (run) => [
        ...textEvents(run, 'one', 'One.').slice(0, 2),
        proceed.opened,
        { type: 'text-delta', id: `${run.runId}:one`, delta: ' Two.' },
        { type: 'text-end', id: `${run.runId}:one` },
        complete,
      ],
      (run) => [...textEvents(run, 'three', 'Three.'), complete],
    );
    const { agent, chat: open, detached } = await start(source);
    const left = detached();
    const sent = left.sendMessage({ text: 'Go.' });
    await until(() => expect(getTexts(left)).toEqual(['Go.', 'One.']));
    const history = copy(left.messages).slice(0, had === 'nothing' ? 1 : 2);
    await left.stop();
    await sent;
    const chat = open(history);
    const resumed = chat.resumeStream();
    await until(() => expect(getTexts(chat)).toEqual(['Go.', 'One.']));
    proceed.open();
    await resumed;
    expect({ error: chat.error, texts: getTexts(chat) }).toEqual({ error: undefined, texts: ['Go.', 'One. Two.'] });
    // A second replay updates the same message.
    await chat.resumeStream();
    expect(getTexts(chat)).toEqual(['Go.', 'One. Two.']);
    await chat.sendMessage({ text: 'On.' });
    expect({ error: chat.error, texts: getTexts(chat) }).toEqual({
      error: undefined,
      texts: ['Go.', 'One. Two.', 'On.', 'Three.'],
    });
    const stored = await agent.store.listMessages({ threadId: 'thread-1' });
    expect(stored.map(({ id }) => id).filter((_, index) => index % 2 === 1)).toEqual([
      chat.messages[1]!.id,
      chat.messages[3]!.id,
    ]);
    expect(source.runs.map((run) => run.history.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'user'],
    ]);
  });

  it('shows the same message as a chat that stayed, wherever it resumes', { timeout: 30_000 }, async () => {
    const script = createScript('run-1');
    const open = async () => {
      const driven = await handDriven();
      const served = await serve(createAGUIHandler(driven.agent));
      const ids = ['run-1', 'never shown'];
      const transport = new AGUIChatTransport({ url: served.url, version: major, generateId: () => ids.shift()! });
      const chat = majors.createHookChat({ id: 'thread-1', transport: transport as never });
      const sent = chat.sendMessage({ text: 'Go.' });
      await until(() => expect(driven.requests).toHaveLength(1));
      const close = async (): Promise<void> => {
        await served.close();
        driven.close();
      };
      return { ...driven, ...served, chat, sent, close };
    };
    const whole = await open();
    await whole.finish('run-1', script);
    await whole.sent;
    const stayed = shown(whole.chat.lastMessage);
    await whole.close();
    for (let cut = 1; cut < script.length; cut += 1) {
      const { chat: left, sent, url, write, finish, close } = await open();
      await write('run-1', script.slice(0, cut));
      const chat = chatAt(url, { messages: copy(left.messages) });
      const resumed = chat.resumeStream();
      await until(() => expect(chat.status).not.toBe('ready'));
      await finish('run-1', script.slice(cut));
      await Promise.all([resumed, sent]);
      expect([cut, chat.error, shown(chat.lastMessage)]).toEqual([cut, undefined, stayed]);
      expect(chat.lastMessage?.id).toBe(left.lastMessage?.id);
      expect(chat.messages).toHaveLength(2);
      await close();
    }
    expect(JSON.stringify(stayed)).toContain('Sun and stones.');
    expect(JSON.stringify(stayed)).toContain('rhyme');
  });

  it('answers a question that was asked while no client was connected', async () => {
    const proceed = gate();
    const source = scriptedSource(
      (run) => [...textEvents(run, 'one', 'May I?'), proceed.opened, ...approval],
      (run) => [
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'gone' },
        ...textEvents(run, 'two', 'Thanks.'),
        complete,
      ],
    );
    const { agent, chat: open, detached } = await start(source, { replayEndedMs: -1 });
    const left = detached();
    const sent = left.sendMessage({ text: 'Go.' });
    await until(() => expect(getTexts(left)).toEqual(['Go.', 'May I?']));
    const history = copy(left.messages);
    await left.stop();
    await sent;
    proceed.open();
    await vi.waitFor(async () =>
      expect((await (await agent.latest({ threadId: 'thread-1' }))!.record()).state).toBe('paused'),
    );
    const chat = open(history);
    await chat.resumeStream();
    expect(shown(chat.lastMessage)).toContainEqual(expect.objectContaining({ state: 'approval-requested' }));
    await chat.addToolApprovalResponse({ id: 'q', approved: true });
    await settled(chat);
    expect(chat.error).toBeUndefined();
    expect(chat.messages).toHaveLength(2);
    expect(getTexts(chat)).toEqual(['Go.', 'May I?', 'Thanks.']);
    expect(shown(chat.lastMessage)).toContainEqual(
      expect.objectContaining({ state: 'output-available', output: 'gone' }),
    );
    expect(source.runs).toHaveLength(2);
    // The run ended longer than `replayEndedMs` ago, so there is nothing to resume.
    const late = open(copy(chat.messages));
    await late.resumeStream();
    expect({ status: late.status, texts: getTexts(late) }).toEqual({ status: 'ready', texts: getTexts(chat) });
  });

  it('shows the content before a continuation when it resumes during the continuation', async () => {
    const proceed = gate();
    const source = scriptedSource(
      (run) => [
        { type: 'file', id: `${run.runId}:file`, mimeType: 'image/png', data: 'aGk=' },
        ...textEvents(run, 'one', 'May I?'),
        ...approval,
      ],
      (run) => [
        { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'gone' },
        ...textEvents(run, 'two', 'Thanks.'),
        proceed.opened,
        ...textEvents(run, 'three', 'Done.'),
        complete,
      ],
    );
    const { chat: open } = await start(source);
    const first = open();
    await first.sendMessage({ text: 'Go.' });
    void first.addToolApprovalResponse({ id: 'q', approved: true });
    await until(() => expect(getTexts(first)).toEqual(['Go.', 'May I?', 'Thanks.']));
    const chat = open(copy(first.messages).slice(0, 1));
    const resumed = chat.resumeStream();
    await until(() => expect(getTexts(chat)).toEqual(['Go.', 'May I?', 'Thanks.']));
    proceed.open();
    await resumed;
    await settled(first);
    expect(getTexts(chat)).toEqual(['Go.', 'May I?', 'Thanks.', 'Done.']);
    // Chunks of AI SDK 6 do not carry the approval of a call; its result implies it.
    const parts = (one: Chat): unknown[] => shown(one.lastMessage).map((part) => ({ ...part, approval: undefined }));
    expect(parts(chat)).toEqual(parts(first));
    expect(chat.lastMessage?.id).toBe(first.lastMessage?.id);
  });

  it('resumes in the same page after a connection error', async () => {
    const proceed = gate();
    const source = scriptedSource((run) => [
      ...textEvents(run, 'one', 'One.'),
      proceed.opened,
      ...textEvents(run, 'two', 'Two.'),
      complete,
    ]);
    const agent = new Agent({ source, store: createInMemoryStore() });
    const handle = createAGUIHandler(agent);
    let cut = (): void => undefined;
    const served = await serve(async (request) => {
      const response = await handle(request);
      const reader = response.body!.getReader();
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void (cut = () => controller.error(new Error('cut'))),
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      });
      return new Response(body, response);
    });
    onTestFinished(async () => {
      await served.close();
      await agent.close();
    });
    const chat = chatAt(served.url);
    const sent = chat.sendMessage({ text: 'Go.' });
    await until(() => expect(getTexts(chat)).toEqual(['Go.', 'One.']));
    cut();
    await sent;
    expect(chat.status).toBe('error');
    const resumed = chat.resumeStream();
    proceed.open();
    await resumed;
    expect({ error: chat.error, texts: getTexts(chat) }).toEqual({ error: undefined, texts: ['Go.', 'One.', 'Two.'] });
  });
});

describe('reconnectToStream and an agent without replay', () => {
  const started = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n';
  const stream = { 'content-type': 'text/event-stream' };

  async function reconnect(answer: () => Response): Promise<unknown> {
    const requests: string[] = [];
    const served = await serve(async (request) => {
      requests.push(`${request.method} ${new URL(request.url).search}`);
      return answer();
    });
    onTestFinished(() => served.close());
    const found = await new AGUIChatTransport({ url: `${served.url}/agent?key=1` }).reconnectToStream({ chatId: 't' });
    expect(requests).toEqual(['GET ?key=1&threadId=t&protocolVersion=1.0&replay=true']);
    return found;
  }

  it.each([
    ['an unknown route', () => new Response('Not found', { status: 404 })],
    ['an unknown method', () => Response.json({ detail: 'Method Not Allowed' }, { status: 405 })],
    ['a missing body', () => new Response('{}', { status: 422 })],
    ['an unimplemented method', () => new Response('', { status: 501 })],
    ['an HTML page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['no content', () => new Response(null, { status: 204 })],
    ['a stream without a message id', () => new Response(started, { headers: stream })],
    ['an empty stream', () => new Response('', { headers: stream })],
  ])('returns null for %s', async (_, answer) => {
    expect(await reconnect(answer)).toBe(null);
  });

  it('supports a relative URL', async () => {
    const requests: unknown[] = [];
    const fetch = async (url: unknown): Promise<Response> => {
      requests.push(url);
      return new Response(null, { status: 404 });
    };
    const transport = new AGUIChatTransport({
      url: '/ag-ui#top',
      name: 'agent',
      fetch,
    });
    expect(await transport.reconnectToStream({ chatId: 'a b' })).toBe(null);
    expect(requests).toEqual(['/ag-ui?threadId=a+b&protocolVersion=1.0&replay=true']);
  });

  it('returns null for a WebSocket URL without a request', async () => {
    expect(await new AGUIChatTransport({ url: 'wss://127.0.0.1:9/agent' }).reconnectToStream({ chatId: 't' })).toBe(
      null,
    );
  });

  it('rejects with the error text of a failing agent', async () => {
    await expect(reconnect(() => new Response('It broke.', { status: 500 }))).rejects.toThrow(
      'answered 500: It broke.',
    );
  });
});
