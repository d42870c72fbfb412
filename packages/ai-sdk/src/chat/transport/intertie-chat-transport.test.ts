import type { ChatTransport, UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { chatMajors, settled, shown } from '../../../test/chats.ts';
import { complete, scriptedSource, textEvents, type Script } from '../../../test/scripted-source.ts';
import { StubServer } from '../../../test/stub-server.ts';
import { IntertieChatTransport, type IntertieChatTransportOptions } from './intertie-chat-transport.ts';
import { toUIMessageFrame } from '../../ui-message-stream/sse/ui-message-sse.ts';

const hello = [{ type: 'step-start' }, { type: 'text', text: 'Hello, world', state: 'done' }];
const helloScript: Script = (run) => [...textEvents(run, 'text', 'Hel', 'lo', ', ', 'world'), complete];
/** start, start-step, text-start, four deltas, text-end, finish-step, finish. */
const helloFrames = 10;
let chats = 0;

type Options = IntertieChatTransportOptions<6>;

/** Creates a transport with a chat id per test and no delay between reconnects. */
function setup(server: { handle: (request: Request) => Promise<Response> }, options: Options = {}) {
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    init?.signal?.throwIfAborted();
    return server.handle(new Request(new URL(url as string, 'http://localhost'), init));
  };
  chats += 1;
  const id = `thread ${chats}`;
  const create = (): IntertieChatTransport =>
    new IntertieChatTransport({ api: '/chat', fetch, reconnectDelayMs: () => 0, ...options });
  // Like a component that creates its transport while rendering: each call uses a new one.
  const transport: ChatTransport<UIMessage> = {
    get resumeStreamIsReplay() {
      return create().resumeStreamIsReplay;
    },
    sendMessages: (send) => create().sendMessages(send),
    reconnectToStream: (resume) => create().reconnectToStream(resume),
  };
  const path = `/chat/${encodeURIComponent(id)}`;
  return { id, transport, path };
}

/** Promise that a test resolves to let a run continue. */
function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}

const toStored = (messages: UIMessage[]): UIMessage[] => JSON.parse(JSON.stringify(messages)) as UIMessage[];
const getTexts = (message: UIMessage | undefined): string[] =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe.each(chatMajors)('$name', ({ major, ai, createChat, createHookChat }) => {
  describe.each([
    { name: 'useChat({ chat })', create: createChat, isFlagSeen: true },
    { name: 'useChat({ transport })', create: createHookChat, isFlagSeen: major === 7 },
  ])('$name', ({ create, isFlagSeen }) => {
    test.each(['error', 'end', 'torn'] as const)('resumes after any frame (%s)', async (how) => {
      const server = new StubServer(scriptedSource(helloScript));
      for (let after = 1; after < helloFrames; after += 1) {
        server.cuts = [{ after, how }];
        server.requests.length = 0;
        const chat = create(setup(server));
        await chat.sendMessage({ text: 'hi' });
        expect(chat.error).toBeUndefined();
        expect(shown(chat.lastMessage)).toEqual(hello);
        expect(chat.messages).toHaveLength(2);
        expect(server.requests).toHaveLength(2);
      }
    });

    test('resumes repeatedly while each response makes progress', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      server.cuts = Array.from({ length: helloFrames - 1 }, () => ({ after: 1 }));
      const chat = create(setup(server, { maxReconnects: 1 }));
      await chat.sendMessage({ text: 'hi' });
      expect(chat.error).toBeUndefined();
      expect(shown(chat.lastMessage)).toEqual(hello);
    });

    test('retries while the server is unavailable', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      server.cuts = [{ after: 5 }];
      server.refusals = [undefined, 503, 429];
      const chat = create(setup(server));
      await chat.sendMessage({ text: 'hi' });
      expect(shown(chat.lastMessage)).toEqual(hello);
      expect(server.requests).toHaveLength(4);
    });

    test('reconnects up to twenty times by default, which outlasts the restart of a server', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      server.cuts = [{ after: 5 }];
      server.refusals = [undefined, ...Array.from({ length: 19 }, () => 503)];
      const chat = create(setup(server, { reconnectDelayMs: () => 0 }));
      await chat.sendMessage({ text: 'hi' });
      expect(shown(chat.lastMessage)).toEqual(hello);
    });

    test('streams the rest to the same chat after the network was down', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      for (let after = 1; after < helloFrames; after += 1) {
        server.cuts = [{ after }];
        server.refusals = [undefined, 503, 503];
        const { id, transport } = setup(server, { maxReconnects: 2 });
        const onFinish = vi.fn<(end: { isDisconnect: boolean }) => void>();
        const chat = create({ id, transport, onFinish });
        await chat.sendMessage({ text: 'hi' });
        expect(chat.error).toBeInstanceOf(TypeError);
        expect(chat.error?.message).toMatch(/^network error: .*2 reconnects/);
        expect(onFinish.mock.calls[0]![0]).toMatchObject({ isDisconnect: true });
        await chat.resumeStream();
        expect(chat.error).toBeUndefined();
        expect(shown(chat.lastMessage)).toEqual(hello);
        expect(chat.messages).toHaveLength(2);
        // The message has ended, so there is nothing to resume.
        await chat.resumeStream();
        expect(chat.status).toBe('ready');
        expect(shown(chat.lastMessage)).toEqual(hello);
      }
    });

    test('streams the whole message to a new chat with or without a partial message', async () => {
      const { open, opened } = gate();
      const source = scriptedSource((run) => [
        ...textEvents(run, 'one', 'One.'),
        { type: 'text-start', id: `${run.runId}:two` },
        { type: 'text-delta', id: `${run.runId}:two`, delta: 'Tw' },
        opened,
        { type: 'text-delta', id: `${run.runId}:two`, delta: 'o.' },
        { type: 'text-end', id: `${run.runId}:two` },
        complete,
      ]);
      const { id, transport } = setup(new StubServer(source));
      const first = create({ id, transport });
      const sent = first.sendMessage({ text: 'hi' });
      await vi.waitFor(() => expect(getTexts(first.lastMessage)).toEqual(['One.', 'Tw']));
      const known = toStored(first.messages);
      const reloads = [known, known.slice(0, 1)].map((messages) => create({ id, transport, messages }));
      const resumed = reloads.map((chat) => chat.resumeStream());
      await vi.waitFor(() => expect(reloads.map((chat) => getTexts(chat.lastMessage).at(-1))).toEqual(['Tw', 'Tw']));
      open();
      await Promise.all([sent, ...resumed]);
      for (const chat of [first, ...reloads]) {
        expect(chat.error).toBeUndefined();
        expect(chat.messages).toHaveLength(2);
        expect(getTexts(chat.lastMessage)).toEqual(['One.', 'Two.']);
        expect(shown(chat.lastMessage)).toEqual(shown(first.lastMessage));
      }
    });

    test('skips duplicate frames', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      const stutter = new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          controller.enqueue(piece);
          controller.enqueue(piece);
        },
      });
      const handle = async (request: Request): Promise<Response> => {
        const response = await server.handle(request);
        return new Response(response.body!.pipeThrough(stutter), response);
      };
      const { id, transport } = setup({ handle });
      const chat = create({ id, transport });
      await chat.sendMessage({ text: 'hi' });
      expect(shown(chat.lastMessage)).toEqual(hello);
    });

    test('resumes the interrupted stream of a new chat', async () => {
      const { open, opened } = gate();
      const source = scriptedSource((run) => [
        ...textEvents(run, 'one', 'One.'),
        opened,
        ...textEvents(run, 'two', 'Two.'),
        complete,
      ]);
      const server = new StubServer(source);
      const { id, transport } = setup(server);
      const first = create({ id, transport });
      const sent = first.sendMessage({ text: 'hi' });
      await vi.waitFor(() => expect(getTexts(first.lastMessage)).toEqual(['One.']));
      server.cuts = [{ after: 3 }];
      const chat = create({ id, transport, messages: toStored(first.messages) });
      const resumed = chat.resumeStream();
      open();
      await Promise.all([sent, resumed]);
      expect(chat.error).toBeUndefined();
      expect(getTexts(chat.lastMessage)).toEqual(['One.', 'Two.']);
      expect(shown(chat.lastMessage)).toEqual(shown(first.lastMessage));
    });

    test('keeps the earlier parts when a new chat joins a continuation', async () => {
      const { open, opened } = gate();
      const source = scriptedSource(
        (run) => [
          ...textEvents(run, 'one', 'May I?'),
          { type: 'tool-call', toolCallId: 'c', toolName: 'rm', input: {}, executor: 'runtime' },
          { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c' },
          { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
        ],
        (run) => [
          { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 'gone' },
          ...textEvents(run, 'two', 'Thanks.'),
          opened,
          ...textEvents(run, 'three', 'Done.'),
          complete,
        ],
      );
      const { id, transport } = setup(new StubServer(source));
      const sendAutomaticallyWhen = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
      const first = create({ id, transport, sendAutomaticallyWhen });
      await first.sendMessage({ text: 'hi' });
      const before = toStored(first.messages);
      await first.addToolApprovalResponse({ id: 'q', approved: true });
      await vi.waitFor(() => expect(getTexts(first.lastMessage)).toEqual(['May I?', 'Thanks.']));
      const reloads = [toStored(first.messages), before].map((messages) => create({ id, transport, messages }));
      const resumed = reloads.map((chat) => chat.resumeStream());
      await vi.waitFor(() => expect(reloads.map((chat) => getTexts(chat.lastMessage).length)).toEqual([2, 2]));
      open();
      await Promise.all(resumed);
      await settled(first);
      for (const chat of [first, ...reloads]) {
        expect(chat.error).toBeUndefined();
        expect(chat.messages).toHaveLength(2);
        expect(getTexts(chat.lastMessage)).toEqual(['May I?', 'Thanks.', 'Done.']);
        expect(shown(chat.lastMessage)).toContainEqual(
          expect.objectContaining({ type: 'tool-rm', state: 'output-available', output: 'gone' }),
        );
      }
    });

    test('returns null if there is nothing to resume', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      const { id, transport, path } = setup(server);
      const chat = create({ id, transport });
      await chat.resumeStream();
      expect(chat.status).toBe('ready');
      expect(chat.messages).toEqual([]);
      expect(server.requests).toEqual([`GET ${path}/stream`]);
    });

    test('restarts the message after a deployment if the chat supports it, and fails otherwise', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      server.cuts = [{ after: 5 }];
      server.refusals = [undefined, 503];
      const { id, transport } = setup(server, { maxReconnects: 1, resumeStreamIsReplay: isFlagSeen });
      const chat = create({ id, transport });
      await chat.sendMessage({ text: 'hi' });
      server.encoderName = 'ui2';
      await chat.resumeStream();
      expect(getTexts(chat.lastMessage)).toEqual([isFlagSeen ? 'Hello, world' : 'Hello']);
      expect(chat.error?.message ?? 'none').toMatch(isFlagSeen ? 'none' : /^network error: .*Reload the page/);
    });

    test('restarts or fails when the deployment happens between two streams', async () => {
      const server = new StubServer(scriptedSource(helloScript));
      server.cuts = [{ after: 5 }];
      const { id, transport } = setup({
        handle: (request) => {
          if (request.method === 'GET') server.encoderName = 'ui2';
          return server.handle(request);
        },
      });
      const chat = create({ id, transport });
      await chat.sendMessage({ text: 'hi' });
      expect(chat.error).toBeInstanceOf(TypeError);
      expect(getTexts(chat.lastMessage)).toEqual(['Hello']);
      // Without a cursor, the stub has nothing to resume for a finished run.
      await chat.resumeStream();
      expect(chat.status).toBe('ready');
      expect(getTexts(chat.lastMessage)).toEqual(['Hello']);
    });

    test('streams the whole message on the second try to a remounted component', async () => {
      const { open, opened } = gate();
      const source = scriptedSource((run) => [
        ...textEvents(run, 'one', 'One.'),
        opened,
        ...textEvents(run, 'two', 'Two.'),
        complete,
      ]);
      const server = new StubServer(source);
      server.cuts = [{ after: 4 }];
      server.refusals = [undefined, 503];
      const { id, transport } = setup(server, { maxReconnects: 1 });
      const first = create({ id, transport });
      await first.sendMessage({ text: 'hi' });
      expect(first.error).toBeInstanceOf(TypeError);
      const chat = create({ id, transport, messages: toStored(first.messages.slice(0, 1)) });
      await chat.resumeStream();
      expect(chat.error?.message).toMatch(/missing text part/i);
      const resumed = chat.resumeStream();
      open();
      await resumed;
      expect(chat.error).toBeUndefined();
      expect(getTexts(chat.lastMessage)).toEqual(['One.', 'Two.']);
    });

    test('stops the run on the server by its id', async () => {
      const source = scriptedSource(
        (run) => [...textEvents(run, 'one', 'One.'), new Promise(() => undefined)],
        helloScript,
      );
      const server = new StubServer(source);
      const { id, transport, path } = setup(server);
      const chat = create({ id, transport });
      const sent = chat.sendMessage({ text: 'hi' });
      await vi.waitFor(() => expect(getTexts(chat.lastMessage)).toEqual(['One.']));
      await chat.stop();
      await sent;
      await vi.waitFor(() => expect(source.signals[0]!.aborted).toBe(true));
      expect(server.requests).toEqual(['POST /chat', `POST ${path}/stop?run=${source.runs[0]!.runId}`]);
      // Stopping a finished chat sends no request.
      await chat.sendMessage({ text: 'again' });
      await chat.stop();
      expect(shown(chat.lastMessage)).toEqual(hello);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(server.requests).toHaveLength(3);
    });

    test('stops a resumed stream, but not when the chat reconnects twice', async () => {
      const { open, opened } = gate();
      const source = scriptedSource((run) => [
        ...textEvents(run, 'one', 'One.'),
        opened,
        ...textEvents(run, 'two', 'Two.'),
        complete,
      ]);
      const server = new StubServer(source);
      const { id, transport, path } = setup(server, { stopOnAbort: true });
      void create({ id, transport }).sendMessage({ text: 'hi' });
      const chat = create({ id, transport });
      await vi.waitFor(() => expect(source.runs).toHaveLength(1));
      // React mounts components twice in development.
      const resumed = [chat.resumeStream(), chat.resumeStream()];
      await vi.waitFor(() => expect(getTexts(chat.lastMessage)).toEqual(['One.']));
      const again = chat.resumeStream();
      await vi.waitFor(() => expect(server.requests).toHaveLength(3));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(server.requests.filter((request) => request.includes('stop'))).toEqual([]);
      expect(source.signals[0]!.aborted).toBe(false);
      await chat.stop();
      await Promise.all([...resumed, again]);
      await vi.waitFor(() => expect(source.signals[0]!.aborted).toBe(true));
      expect(server.requests.at(-1)).toBe(`POST ${path}/stop?run=${source.runs[0]!.runId}`);
      open();
    });
  });
});

describe('IntertieChatTransport', () => {
  const [{ createChat }] = chatMajors as [(typeof chatMajors)[0]];
  const request = (more: object = {}) => ({
    chatId: 'x',
    trigger: 'submit-message' as const,
    messageId: undefined,
    messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] } as UIMessage],
    abortSignal: undefined,
    ...more,
  });
  const events = (...chunks: object[]): Response =>
    new Response(chunks.map((chunk) => toUIMessageFrame(chunk)).join(''), { headers: { 'x-intertie-run': 'r' } });

  test('sends the same request as DefaultChatTransport with additional headers and body', async () => {
    const seen: Array<{ url: string; init: RequestInit | undefined }> = [];
    const transport = new IntertieChatTransport({
      api: 'https://a.example/chat?tenant=1#top',
      headers: async () => new Headers({ authorization: 'Bearer 1' }),
      body: () => ({ model: 'm' }),
      credentials: 'include',
      fetch: async (url, init) => {
        seen.push({ url: url as string, init });
        return init?.method === 'POST' ? events({ type: 'finish' }) : new Response(null, { status: 204 });
      },
    });
    await transport.sendMessages(request({ headers: { 'x-a': 'b' }, body: { more: 1 } }));
    expect(seen[0]!.url).toBe('https://a.example/chat?tenant=1#top');
    expect(seen[0]!.init).toMatchObject({
      credentials: 'include',
      headers: { authorization: 'Bearer 1', 'content-type': 'application/json', 'x-a': 'b' },
    });
    expect(JSON.parse(seen[0]!.init!.body as string)).toEqual({
      model: 'm',
      more: 1,
      id: 'x',
      trigger: 'submit-message',
      messages: request().messages,
    });
    expect(await transport.reconnectToStream({ chatId: 'a/b' })).toBeNull();
    expect(seen[1]!.url).toBe('https://a.example/chat/a%2Fb/stream?tenant=1#top');
    expect(await transport.stop({ chatId: 'a/b', run: 'r 1' })).toBe(true);
    expect(seen[2]!.url).toBe('https://a.example/chat/a%2Fb/stop?tenant=1&run=r+1#top');
    await expect(transport.reconnectToStream({ chatId: '..' })).rejects.toThrow('cannot be a chat id');
  });

  test('fails with a network error if a stream without cursors ends early', async () => {
    const { transport } = setup({
      handle: async () => events({ type: 'start', messageId: 'm' }, { type: 'start-step' }),
    });
    const chat = createChat({ transport });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.error).toBeInstanceOf(TypeError);
    expect(chat.error?.message).toBe(
      'network error: the stream was interrupted, and the server sent no cursor to resume from.',
    );
  });

  test('fails with a network error if the body is empty', async () => {
    const { transport } = setup({ handle: async () => new Response(null) });
    const chat = createChat({ transport });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.error?.message).toMatch(/^network error/);
  });

  test('fails on an invalid chunk', async () => {
    const { transport } = setup({
      handle: async () => events({ type: 'start' }, { type: 'text-delta', id: 1, delta: 'x' }),
    });
    const chat = createChat({ transport });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.error?.message).toContain('"id"');
    expect(chat.error).not.toBeInstanceOf(TypeError);
  });

  test('ignores chunks after the end of the message', async () => {
    const { transport } = setup({
      handle: async () => events({ type: 'start' }, { type: 'finish' }, { type: 'nonsense' }),
    });
    const chat = createChat({ transport });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.error).toBeUndefined();
  });

  test.each([
    [404, Error, 'The server refused to resume the stream (404). Not now.'],
    [204, TypeError, 'network error: the stream was interrupted, and the server has nothing to resume.'],
  ])('fails if the server responds to a reconnect with status %i', async (status, type, message) => {
    const server = new StubServer(scriptedSource(helloScript));
    server.cuts = [{ after: 5 }];
    const { transport } = setup({
      handle: async (asked) => {
        if (asked.method === 'POST') return server.handle(asked);
        return new Response(status === 204 ? null : 'Not now.', { status });
      },
    });
    const chat = createChat({ transport });
    await chat.sendMessage({ text: 'hi' });
    expect(chat.error?.constructor).toBe(type);
    expect(chat.error?.message).toBe(message);
    expect(getTexts(chat.lastMessage)).toEqual(['Hello']);
  });

  test('fails with the response text if the server rejects a message', async () => {
    const server = new StubServer(scriptedSource(helloScript));
    server.refusals = [409, 500];
    const { transport } = setup(server);
    await expect(transport.sendMessages(request())).rejects.toThrow('Not now.');
    await expect(transport.reconnectToStream({ chatId: 'x' })).rejects.toThrow('Not now.');
  });

  test('sends nothing if the signal is already aborted', async () => {
    const server = new StubServer(scriptedSource(helloScript));
    const { transport } = setup(server);
    const abortSignal = AbortSignal.abort();
    await expect(transport.sendMessages(request({ abortSignal }))).rejects.toMatchObject({ name: 'AbortError' });
    await expect(transport.reconnectToStream({ chatId: 'x', abortSignal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.requests).toEqual([]);
  });

  test('stops the run if the chat stops before the response', async () => {
    const source = scriptedSource((run) => [...textEvents(run, 'text', 'Hel'), new Promise(() => undefined)]);
    const server = new StubServer(source);
    const answers = gate();
    const handle = async (asked: Request): Promise<Response> => {
      const response = await server.handle(asked);
      if (asked.url.endsWith('/chat')) await answers.opened;
      asked.signal.throwIfAborted();
      return response;
    };
    const { transport, id, path } = setup({ handle });
    const stop = new AbortController();
    const messages: UIMessage[] = [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] }];
    const asked = { chatId: id, messages, trigger: 'submit-message' as const, messageId: undefined };
    const sending = transport.sendMessages({ ...asked, abortSignal: stop.signal });
    await vi.waitFor(() => expect(source.runs).toHaveLength(1));
    stop.abort();
    await expect(sending).rejects.toThrow('aborted');
    answers.open();
    await vi.waitFor(() => expect(source.signals[0]!.aborted).toBe(true));
    expect(server.requests).toEqual(['POST /chat', `POST ${path}/stop?run=${source.runs[0]!.runId}`]);
  });

  test('does not stop the run on cancel, nor with stopOnAbort: false', async () => {
    const source = scriptedSource((run) => [...textEvents(run, 'one', 'One.'), new Promise(() => undefined)]);
    const server = new StubServer(source);
    const { transport } = setup(server, { stopOnAbort: false });
    const leaving = (await transport.sendMessages(request())).getReader();
    await leaving.read();
    await leaving.cancel();
    const stop = new AbortController();
    const stopping = (await transport.sendMessages(request({ abortSignal: stop.signal }))).getReader();
    await stopping.read();
    stop.abort();
    await expect(
      (async () => {
        for (;;) if ((await stopping.read()).done) return;
      })(),
    ).rejects.toMatchObject({ name: 'AbortError' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(server.requests).toEqual(['POST /chat', 'POST /chat']);
    expect(source.signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test('stops while waiting to reconnect', async () => {
    const server = new StubServer(scriptedSource(helloScript));
    server.cuts = [{ after: 4 }];
    const { transport } = setup(server, { reconnectDelayMs: () => 60_000 });
    const chat = createChat({ transport });
    const sent = chat.sendMessage({ text: 'hi' });
    await vi.waitFor(() => expect(getTexts(chat.lastMessage)).toEqual(['Hel']));
    await chat.stop();
    await sent;
    expect(chat.status).toBe('ready');
  });
});
