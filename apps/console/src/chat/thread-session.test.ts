import { createUIMessageEncoder, toUIMessageFrame, doneFrame } from '@intertie/ai-sdk';
import type { AgentEvent } from '@intertie/core';
import type { UIMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThreadSession } from './thread-session.ts';

/** What a server says to each request, by the end of its path. The feed is silent. */
type Answers = { [path: string]: () => Response };

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

/** A run's stream as a chat reads it. */
function stream(runId: string, text: string): Response {
  const encoder = createUIMessageEncoder();
  const frames: string[] = [];
  for (const event of events(runId, text)) encoder.feed(event, (chunk) => void frames.push(toUIMessageFrame(chunk)));
  return new Response(frames.join('') + doneFrame, { headers: { 'x-intertie-run': runId } });
}

const asked: UIMessage = { id: 'question', role: 'user', parts: [{ type: 'text', text: 'Hello' }] };

describe('a thread of the page', () => {
  let requests: string[];
  let answers: Answers;

  beforeEach(() => {
    requests = [];
    answers = {
      '/events': () => new Response(new ReadableStream()),
      '/questions': () => json({ questions: [] }),
      '/runs': () => json({ runs: [] }),
    };
    vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
      const { pathname } = new URL(url, 'http://here');
      requests.push(`${init?.method ?? 'GET'} ${pathname}`);
      const key = Object.keys(answers).find((end) => pathname.endsWith(end));
      return key === undefined ? json({ error: { code: 'not-found', message: 'Not here.' } }, 404) : answers[key]!();
    });
  });

  afterEach(() => vi.unstubAllGlobals());

  const texts = (session: ThreadSession): string[] =>
    session.chat.messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  const streamed = (): number => requests.filter((request) => request.endsWith('/stream')).length;

  it('reads a run that somebody else has started', async () => {
    answers['/messages'] = () =>
      json({ messages: [asked], branches: {}, live: { runId: 'r', messageId: 'answer', agent: 'a' } });
    answers['/stream'] = () => stream('r', 'Hi.');
    const session = new ThreadSession('t', { isNew: false });
    const close = session.open();
    await vi.waitFor(() => expect(texts(session)).toEqual(['Hello', 'Hi.']));
    close();
    expect(requests).toContain('GET /api/agents/a/chat/t/stream');
  });

  it('does not read again what it has read to its end, though the server still calls it live', async () => {
    answers['/messages'] = () =>
      json({ messages: [asked], branches: {}, live: { runId: 'r', messageId: 'answer', agent: 'a' } });
    answers['/stream'] = () => stream('r', 'Hi.');
    const session = new ThreadSession('t', { isNew: false });
    await session.refresh();
    await vi.waitFor(() => expect(session.isBusy).toBe(false));
    await session.refresh();
    await session.refresh();
    expect(streamed()).toBe(1);
    expect(texts(session)).toEqual(['Hello', 'Hi.']);
  });

  it('keeps a message that never arrived, and sends it again as it was', async () => {
    const session = new ThreadSession('t', { isNew: true, agent: 'a' });
    answers['/chat'] = () => Response.error();
    session.send({ text: 'Hello', files: [] });
    await vi.waitFor(() => expect(session.chat.status).toBe('error'));
    await session.refresh();
    expect(texts(session)).toEqual(['Hello']);
    answers['/chat'] = () => stream('r', 'Hi.');
    await session.retry();
    await vi.waitFor(() => expect(texts(session)).toEqual(['Hello', 'Hi.']));
  });

  it('says why an answer was refused, and goes on with one that was taken', async () => {
    answers['/messages'] = () => json({ messages: [asked], branches: {} });
    const session = new ThreadSession('t', { isNew: false, agent: 'a' });
    await session.refresh();
    answers['/answers'] = () => json({ verdicts: [{ id: 'q', result: 'conflict' }], open: [] });
    expect(await session.answer('r', [{ questionId: 'q', approved: true }])).toBe(
      'Somebody else has answered otherwise.',
    );
    answers['/answers'] = () =>
      json({ verdicts: [{ id: 'q', result: 'accepted' }], open: [], run: { runId: 'r2', messageId: 'answer' } });
    answers['/stream'] = () => stream('r2', 'Thanks.');
    const thanks = { id: 'answer', role: 'assistant', parts: [{ type: 'text', text: 'Thanks.' }] };
    answers['/messages'] = () => json({ messages: [asked, thanks], branches: {} });
    expect(await session.answer('r', [{ questionId: 'q', approved: true }])).toBeUndefined();
    await vi.waitFor(() => expect(texts(session).at(-1)).toBe('Thanks.'));
    expect(streamed()).toBe(1);
  });

  it('says so when there is no such thread', async () => {
    const session = new ThreadSession('t', { isNew: false });
    await session.refresh();
    expect(session.snapshot().status).toBe('missing');
  });
});
