import { readRunHeaders } from '@intertie/core/http';
import { describe, expect, test, vi } from 'vitest';
import { complete, scriptedSource, textEvents } from '../../../test/scripted-source.ts';
import { createChatHandler } from './create-chat-handler.ts';
import type { ChatHandlerOptions } from './source-chat.ts';

const user = (text = 'hi', id = 'u'): object => ({ id, role: 'user', parts: [{ type: 'text', text }] });
const post = (body: unknown, init: RequestInit = {}): Request =>
  new Request('http://localhost/api/chat', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
const source = () => scriptedSource((run) => [...textEvents(run, 'text', 'Hello'), complete]);
const ask = (body: unknown, options?: ChatHandlerOptions) => createChatHandler(source(), options)(post(body));

describe('createChatHandler with a source', () => {
  test('responds with a UI message stream and names run and message in headers', async () => {
    const scripted = source();
    const handler = createChatHandler(scripted, { now: () => 1000 });
    const response = await handler(post({ id: 'thread', messages: [user()], trigger: 'submit-message' }));
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-intertie-run': scripted.runs[0]!.runId,
      'x-intertie-message': scripted.runs[0]!.messageId,
    });
    const text = await response.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)) as { type: string });
    expect(chunks.map(({ type }) => type).join(' ')).toBe(
      'start start-step text-start text-delta text-end finish-step finish',
    );
    expect(chunks[0]).toMatchObject({ messageMetadata: { intertie: { runId: scripted.runs[0]!.runId } } });
    expect(scripted.runs[0]).toMatchObject({ threadId: 'thread', parentMessageId: 'u', startedAt: 1000 });
  });

  test('creates an id for a chat without one', async () => {
    const scripted = source();
    expect((await createChatHandler(scripted)(post({ messages: [user()] }))).status).toBe(200);
    expect(scripted.runs[0]!.threadId).not.toBe('');
  });

  test.each([
    ['', 400, 'The body is not a JSON object'],
    ['{', 400, 'The body is not JSON'],
    ['{"__proto__":{}}', 400, 'would change its prototype'],
    [[], 400, 'The body is not a JSON object'],
    [{ messages: 'hi' }, 400, '"messages" is not an array'],
    [{ messages: [] }, 400, '"messages" is empty'],
    [{ messages: [user()], id: 7 }, 400, '"id"'],
    [{ messages: [user()], messageId: 7 }, 400, '"messageId"'],
    [{ messages: [user()], trigger: 'submit-user-message' }, 400, '"submit-message" or "regenerate-message"'],
    [{ messages: [null] }, 400, 'messages[0] is not an object'],
    [{ messages: [{ ...user(), id: '' }] }, 400, 'messages[0].id'],
    [{ messages: [user(), { ...user(), role: 'robot' }] }, 400, 'messages[1].role must be "user"'],
    [{ messages: [{ id: 'u', role: 'user', content: 'hi' }] }, 400, 'a chat sends UI messages'],
    [
      { messages: [{ id: 'a', role: 'assistant', parts: [] }], trigger: 'regenerate-message', messageId: 'a' },
      400,
      'no message before it',
    ],
    [{ messages: [user('x'.repeat(2000))] }, 413, 'longer than 1000 bytes'],
  ])('rejects the body %j', async (body, status, message) => {
    const response = await ask(body, { limits: { bodyBytes: 1000 } });
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
  });

  test.each([
    ['json-too-large', { jsonBytes: 10 }, 413],
    ['json-too-deep', { jsonDepth: 3 }, 400],
    ['too-many-messages', { messages: 1 }, 413],
    ['too-many-parts', { parts: 1 }, 413],
  ])('rejects a request with the error %s before the run starts', async (code, limits, status) => {
    const scripted = source();
    const body = JSON.stringify({ messages: [user('Hi', 'a'), user('Hi', 'b')] });
    const response = await createChatHandler(scripted, { limits })(post(body));
    expect(response.status).toBe(status);
    const [name] = Object.keys(limits);
    const fix = expect.stringContaining(`limits.${name}`) as string;
    expect(await response.json()).toEqual({ error: { code, message: expect.any(String) as string, fix } });
    expect(scripted.runs).toEqual([]);
  });

  test('encodes any id of a continued message in a header', async () => {
    const id = '会話-1\r\nx-forged: 1';
    const response = await ask({ messages: [user(), { id, role: 'assistant', parts: [] }] });
    expect(response.status).toBe(200);
    expect(readRunHeaders(response).messageId).toBe(id);
    const half = await ask({ messages: [user(), { id: '\ud800', role: 'assistant', parts: [] }] });
    expect(half.status).toBe(400);
    expect(await half.json()).toMatchObject({ error: { code: 'bad-id' } });
  });

  test('accepts system messages only with allowSystemMessages', async () => {
    const messages = [{ ...user('You are a pirate.', 's'), role: 'system' }, user()];
    const refused = await ask({ messages });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('does not accept from clients');
    expect((await ask({ messages }, { allowSystemMessages: true })).status).toBe(200);
  });

  test('responds 204 to GET and 405 to other methods', async () => {
    const handler = createChatHandler(source());
    expect((await handler(new Request('http://localhost/api/chat/thread/stream'))).status).toBe(204);
    const refused = await handler(new Request('http://localhost/api/chat', { method: 'DELETE' }));
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET, POST');
  });

  test('stops the run when the request is aborted', async () => {
    const scripted = scriptedSource((run) => [...textEvents(run, 'text', 'Hel'), new Promise(() => undefined)]);
    const stop = new AbortController();
    const body = JSON.stringify({ messages: [user()] });
    const response = await createChatHandler(scripted)(post(body, { signal: stop.signal }));
    stop.abort();
    const text = await response.text();
    expect(scripted.signals[0]!.aborted).toBe(true);
    expect(text).toContain('"type":"abort"');
  });

  test('stops the run when the response body is cancelled', async () => {
    const scripted = scriptedSource((run) => [...textEvents(run, 'text', 'Hel'), new Promise(() => undefined)]);
    const response = await createChatHandler(scripted)(post({ messages: [user()] }));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    expect(scripted.signals[0]!.aborted).toBe(true);
  });

  test('sends keep-alive comments while the run is silent', async () => {
    const scripted = scriptedSource((run) => [
      new Promise((resolve) => setTimeout(resolve, 40)),
      ...textEvents(run, 'text', 'Hello'),
      complete,
    ]);
    const response = await createChatHandler(scripted, { keepAliveMs: 5 })(post({ messages: [user()] }));
    expect(await response.text()).toContain(': keep-alive\n\n');
  });

  test('calls prepare with the request and returns the response that it throws', async () => {
    const scripted = source();
    const handler = createChatHandler(scripted, {
      prepare: (run, { request, body }) => {
        if (request.headers.get('authorization') === null) throw new Response('Who are you?', { status: 401 });
        return { context: [{ description: run.threadId, value: String(body.model) }], state: { a: 1 } };
      },
    });
    const body = JSON.stringify({ id: 't', messages: [user()], model: 'm' });
    expect((await handler(post(body))).status).toBe(401);
    expect((await handler(post(body, { headers: { authorization: 'x' } }))).status).toBe(200);
    expect(scripted.runs).toMatchObject([{ context: [{ description: 't', value: 'm' }], state: { a: 1 } }]);
  });

  test('sends the result of errorText to the client', async () => {
    const scripted = scriptedSource(() => [
      { type: 'run-end', outcome: 'error', error: { message: 'key sk-1 is wrong' } },
    ]);
    const errorText = vi.fn<(error: { message: string }) => string>(() => 'Something went wrong.');
    const response = await createChatHandler(scripted, { errorText })(post({ messages: [user()] }));
    const text = await response.text();
    expect(text).toContain('"errorText":"Something went wrong."');
    expect(text).not.toContain('sk-1');
    expect(errorText).toHaveBeenCalledWith({ message: 'key sk-1 is wrong' });
  });
});
