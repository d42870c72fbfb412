import { createUIMessageEncoder, toUIMessageFrame, doneFrame } from '@intertie/ai-sdk';
import type { AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThreadSession } from './thread-session.ts';

/** Responses by the end of the request path. */
type Responses = { [path: string]: () => Response };

const json = (value: unknown, status = 200): Response => Response.json(value, { status });

function events(runId: string, text: string): AgentEvent[] {
  return [
    { type: 'run-start', runId, threadId: 't', messageId: 'answer' },
    { type: 'text-start', id: 'p' },
    { type: 'text-delta', id: 'p', delta: text },
    { type: 'text-end', id: 'p' },
    { type: 'run-end', outcome: 'complete' },
  ];
}

/** Response with a run as a UI message stream. */
function stream(runId: string, text: string): Response {
  const encoder = createUIMessageEncoder();
  const frames: string[] = [];
  for (const event of events(runId, text)) encoder.feed(event, (chunk) => void frames.push(toUIMessageFrame(chunk)));
  return new Response(frames.join('') + doneFrame, { headers: { 'x-intertie-run': runId } });
}

const userMessage: UIMessage = { id: 'question', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

describe('ThreadSession', () => {
  let requests: string[];
  let searches: string[];
  let responses: Responses;

  beforeEach(() => {
    requests = [];
    searches = [];
    responses = {
      '/events': () => new Response(new ReadableStream()),
      '/questions': () => json({ questions: [] }),
      '/runs': () => json({ runs: [] }),
    };
    vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
      const { pathname, search } = new URL(url, 'http://here');
      searches.push(search);
      requests.push(`${init?.method ?? 'GET'} ${pathname}`);
      const key = Object.keys(responses).find((end) => pathname.endsWith(end));
      return key === undefined ? json({ error: { code: 'not-found', message: 'Not here.' } }, 404) : responses[key]!();
    });
  });

  afterEach(() => vi.unstubAllGlobals());

  const texts = (session: ThreadSession): string[] =>
    session.chat.messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  const countStreams = (): number => requests.filter((request) => request.endsWith('/stream')).length;

  it('reads the messages once when it opens, and again after a change since then', async () => {
    responses['/messages'] = () => json({ messages: [userMessage], branches: {}, version: 5 });
    let push: ((text: string) => void) | undefined;
    responses['/events'] = () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          push = (text) => controller.enqueue(new TextEncoder().encode(text));
          push('event: live\ndata: null\n\n');
        },
      });
      return new Response(body);
    };
    const countReads = (): number => requests.filter((request) => request === 'GET /api/threads/t/messages').length;
    const session = new ThreadSession('t', { isNew: false });
    const close = session.open();
    await vi.waitFor(() => expect(push).toBeDefined());
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    expect(countReads()).toBe(1);
    expect(searches).toContain('?since=5');
    push!('id: 6\nevent: change\ndata: {"messageId":"question"}\n\n');
    await vi.waitFor(() => expect(countReads()).toBe(2));
    close();
  });

  it('reads a run that another client started', async () => {
    responses['/messages'] = () =>
      json({ messages: [userMessage], branches: {}, live: { runId: 'r', messageId: 'answer', agent: 'a' } });
    responses['/stream'] = () => stream('r', 'Hi.');
    const session = new ThreadSession('t', { isNew: false });
    const close = session.open();
    await vi.waitFor(() => expect(texts(session)).toEqual(['Hello', 'Hi.']));
    close();
    expect(requests).toContain('GET /api/agents/a/chat/t/stream');
  });

  it('does not read a finished stream again while the server still reports the run as live', async () => {
    responses['/messages'] = () =>
      json({ messages: [userMessage], branches: {}, live: { runId: 'r', messageId: 'answer', agent: 'a' } });
    responses['/stream'] = () => stream('r', 'Hi.');
    const session = new ThreadSession('t', { isNew: false });
    await session.refresh();
    await vi.waitFor(() => expect(session.isBusy).toBe(false));
    await session.refresh();
    await session.refresh();
    expect(countStreams()).toBe(1);
    expect(texts(session)).toEqual(['Hello', 'Hi.']);
  });

  it('keeps a message that could not be sent and sends it again on retry', async () => {
    const session = new ThreadSession('t', { isNew: true, agent: 'a' });
    responses['/chat'] = () => Response.error();
    session.send({ text: 'Hello', files: [] });
    await vi.waitFor(() => expect(session.chat.status).toBe('error'));
    await session.refresh();
    expect(texts(session)).toEqual(['Hello']);
    responses['/chat'] = () => stream('r', 'Hi.');
    await session.retry();
    await vi.waitFor(() => expect(texts(session)).toEqual(['Hello', 'Hi.']));
  });

  it('clears a request error when the answer has arrived', async () => {
    const done = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text: 'Hi.' }] };
    responses['/messages'] = () => json({ messages: [userMessage], branches: {} });
    const session = new ThreadSession('t', { isNew: false, agent: 'a' });
    await session.refresh();
    responses['/chat'] = () => json({ error: { code: 'busy', message: 'Later.' } }, 409);
    session.regenerate();
    await vi.waitFor(() => expect(session.chat.error?.message).toContain('Later.'));
    responses['/messages'] = () => json({ messages: [userMessage, done], branches: {} });
    await session.refresh();
    expect(session.chat.error).toBeUndefined();
    expect(texts(session)).toEqual(['Hello', 'Hi.']);
  });

  it('returns why an answer was rejected and resumes the stream after an accepted one', async () => {
    responses['/messages'] = () => json({ messages: [userMessage], branches: {} });
    const session = new ThreadSession('t', { isNew: false, agent: 'a' });
    await session.refresh();
    responses['/answers'] = () => json({ verdicts: [{ id: 'q', result: 'conflict' }], open: [] });
    expect(await session.answer('r', [{ questionId: 'q', approved: true }])).toBe(
      'This question already has a different answer.',
    );
    responses['/answers'] = () =>
      json({ verdicts: [{ id: 'q', result: 'accepted' }], open: [], run: { runId: 'r2', messageId: 'answer' } });
    responses['/stream'] = () => stream('r2', 'Thanks.');
    const thanks = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text: 'Thanks.' }] };
    responses['/messages'] = () => json({ messages: [userMessage, thanks], branches: {} });
    expect(await session.answer('r', [{ questionId: 'q', approved: true }])).toBeUndefined();
    await vi.waitFor(() => expect(texts(session).at(-1)).toBe('Thanks.'));
    expect(countStreams()).toBe(1);
  });

  it('reports a missing thread', async () => {
    const session = new ThreadSession('t', { isNew: false });
    await session.refresh();
    expect(session.snapshot().status).toBe('missing');
  });
});
