import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRunHeaders } from '@intertie/core/http';
import type { LogFields } from '../src/telemetry/logger.ts';
import { chatBody, postJson, sendMessage } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { post, send, type Sent } from './raw-request.ts';

let server: DemoServer;
const logged: Array<[string, LogFields | undefined]> = [];
beforeAll(async () => {
  const logger = { log: (_: string, event: string, fields?: LogFields): void => void logged.push([event, fields]) };
  server = await startDemoServer({
    limits: { bodyBytes: 200_000, jsonBytes: 50_000, messages: 100, parts: 200 },
    logger,
  });
});
afterAll(() => server.close());

const chat = '/api/agents/helper/chat';
const agUi = '/api/agents/helper/ag-ui';
const patch = (body: string): Sent => ({ ...post('/api/threads/t', body), method: 'PATCH' });
/** Deeper than the call stack. */
const levels = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
const agUiBody = (fields: { [name: string]: string }): string =>
  `{${Object.entries({ threadId: '"t"', runId: '"r"', messages: '[]', ...fields })
    .map(([name, json]) => `"${name}":${json}`)
    .join()}}`;
const withOutput = (json: string): string =>
  `{"id":"t","messages":[{"id":"m","role":"assistant","parts":[{"type":"tool-x","state":"output-available","output":${json}}]}]}`;
const oneAnswer = (json: string): string => `{"answers":[{"toolCallId":"c","output":${json}}]}`;
const deep = `${'['.repeat(90_000)}${']'.repeat(90_000)}`;

describe('hostile requests', () => {
  const table: Array<[string, Sent, number, string]> = [
    ['malformed JSON', post(chat, '{"id":'), 400, 'bad-json'],
    ['JSON of another kind', post(chat, '[1,2,3]'), 400, 'bad-request'],
    ['messages that are not a list', post(chat, '{"id":"a","messages":"no"}'), 400, 'bad-request'],
    ['a message without parts', post(chat, '{"id":"a","messages":[{"role":"user"}]}'), 400, 'bad-request'],
    ['an id that is not a string', post(chat, '{"id":7,"messages":[]}'), 400, 'bad-request'],
    ['a thread with NUL', post(chat, chatBody('a\u0000b', 'x')), 400, 'bad-id'],
    ['a thread id of 300 bytes', post(chat, chatBody('a'.repeat(300), 'x')), 400, 'bad-id'],
    ['a message id of 300 bytes', post(chat, chatBody('t', 'x', 'm'.repeat(300))), 400, 'bad-id'],
    ['malformed JSON for AG-UI', post(agUi, '{"threadId":'), 400, 'bad-json'],
    ['wrong types for AG-UI', post(agUi, '{"threadId":1,"runId":[],"messages":{}}'), 422, 'bad-request'],
    ['malformed JSON for a thread', patch('{"title":'), 400, 'bad-json'],
    ['wrong types for a thread', patch('{"title":{"a":1}}'), 400, 'bad-request'],
    ['malformed JSON for answers', post('/api/runs/x/answers', '{"answers":['), 400, 'bad-json'],
    ['wrong types for answers', post('/api/runs/x/answers', '{"answers":{"questionId":"q"}}'), 400, 'bad-request'],
    ['wrong types for the wire', post('/api/dev/wire', '{"thread":7}'), 400, 'bad-request'],
    ['deeply nested lists', post(chat, deep), 400, 'json-too-deep'],
    ['deeply nested lists for AG-UI', post(agUi, deep), 400, 'json-too-deep'],
    ['deeply nested lists as an answer', post('/api/runs/x/answers', `{"answers":${deep}}`), 400, 'json-too-deep'],
    ['10,000 levels in a state', post(agUi, agUiBody({ state: levels })), 400, 'json-too-deep'],
    ['10,000 levels in a tool output', post(chat, withOutput(levels)), 400, 'json-too-deep'],
    ['10,000 levels in an answer', post('/api/runs/x/answers', oneAnswer(levels)), 400, 'json-too-deep'],
    ['10,000 levels in a title', patch(`{"title":${levels}}`), 400, 'json-too-deep'],
    ['10,000 levels for the wire inspector', post('/api/dev/wire', levels), 400, 'json-too-deep'],
    ['too much JSON', post(chat, `{"messages":[${'{},'.repeat(20_000)}{}]}`), 413, 'json-too-large'],
    [
      'too much JSON for AG-UI',
      post(agUi, agUiBody({ messages: `[${'{},'.repeat(20_000)}{}]` })),
      413,
      'json-too-large',
    ],
    [
      'too much JSON as answers',
      post('/api/runs/x/answers', `{"answers":[${'{},'.repeat(20_000)}{}]}`),
      413,
      'json-too-large',
    ],
    ['too many messages', post(chat, `{"messages":[${'{},'.repeat(100)}{}]}`), 413, 'too-many-messages'],
    [
      'too many messages for AG-UI',
      post(agUi, agUiBody({ messages: `[${'{},'.repeat(100)}{}]` })),
      413,
      'too-many-messages',
    ],
    ['too many parts', post(chat, `{"messages":[{"parts":[${'{},'.repeat(200)}{}]}]}`), 413, 'too-many-parts'],
    [
      'too many parts for AG-UI',
      post(agUi, agUiBody({ messages: `[{"content":[${'1,'.repeat(200)}1]}]` })),
      413,
      'too-many-parts',
    ],
    ['a run id with NUL for AG-UI', post(agUi, agUiBody({ runId: String.raw`"a\u0000"` })), 400, 'bad-id'],
    [
      'a run id with an unpaired surrogate for AG-UI',
      post(agUi, agUiBody({ runId: String.raw`"\ud800"` })),
      400,
      'bad-id',
    ],
    ['a run id of 9,000 bytes for AG-UI', post(agUi, agUiBody({ runId: `"${'r'.repeat(9_000)}"` })), 400, 'bad-id'],
    ['a compressed body', post(chat, gzipSync(chatBody('t', 'x')), { 'content-encoding': 'gzip' }), 400, 'bad-json'],
    [
      'a body that sets a prototype',
      post(chat, '{"id":"t","__proto__":{"isAdmin":true},"messages":[]}'),
      400,
      'bad-json',
    ],
    ['a body of 300 kB', post(chat, `"${'x'.repeat(300_000)}"`), 413, 'too-large'],
    [
      'a chunked body of 300 kB',
      post(chat, `"${'y'.repeat(300_000)}"`, { 'transfer-encoding': 'chunked' }),
      413,
      'too-large',
    ],
    ['invalid UTF-8', post('/api/runs/x/stop', new Uint8Array([0xff, 0xfe, 0x22])), 400, 'bad-json'],
    ['unknown fields', post('/api/runs/x/stop', '{"force":true}'), 400, 'bad-request'],
    ['answers without an id', post('/api/runs/x/answers', '{"answers":[{"id":1}]}'), 400, 'bad-request'],
    ['an empty list of answers', post('/api/runs/x/answers', '{"answers":[]}'), 400, 'bad-request'],
    ['a guessed run', { path: '/api/runs/guess' }, 404, 'no-run'],
    ['a guessed thread', { path: '/api/threads/guess/messages' }, 404, 'no-thread'],
    ['a guessed stream', { path: '/streams/runs/guess' }, 404, 'no-run'],
    ['a guessed file', { path: `/api/blobs/${'a'.repeat(64)}` }, 404, 'no-blob'],
    ['a path instead of a file hash', { path: '/api/blobs/..%2f..%2fpackage.json' }, 404, 'no-blob'],
    ['a path outside the folder', { path: '/..%2f..%2fpackage.json' }, 404, 'not-found'],
    ['an unknown agent', post('/api/agents/nobody/chat', '{}'), 404, 'no-agent'],
    ['a property of objects as an agent', { path: '/api/agents/__proto__/topology' }, 404, 'no-agent'],
    ['an id in invalid UTF-8', { path: '/api/threads/%ED%A0%80' }, 404, 'no-thread'],
    ['an id with half an escape', { path: '/api/threads/%zz' }, 404, 'no-thread'],
    ['an id with a line break', { path: '/api/threads/a%0d%0ax-forged:%20b' }, 404, 'no-thread'],
    ['an id with NUL', { path: '/api/threads/a%00b' }, 400, 'bad-id'],
    ['an id of 300 bytes', { path: `/api/threads/${'a'.repeat(300)}` }, 400, 'bad-id'],
    ['a huge limit', { path: '/api/threads?limit=1000000000' }, 400, 'bad-request'],
    ['a limit that is not a number', { path: '/api/threads?limit=many' }, 400, 'bad-request'],
    ['an invalid cursor', { path: '/api/runs/x/events?after=yesterday' }, 400, 'bad-request'],
    ['an offset of an unknown run', { path: '/streams/runs/x?offset=12' }, 404, 'no-run'],
    ['the method TRACE', { method: 'TRACE', path: '/api/agents' }, 400, 'bad-request'],
    ['the address of another server', { path: 'http://evil.example/api/agents' }, 400, 'bad-request'],
    ['a method that the path does not support', { method: 'PUT', path: '/api/threads' }, 405, 'method-not-allowed'],
    ['a forged Host', { path: '/api/agents', headers: { host: 'evil.example' } }, 403, 'host-not-allowed'],
    [
      'a Host that starts like a local one',
      { path: '/api/agents', headers: { host: 'localhost.evil.example' } },
      403,
      'host-not-allowed',
    ],
    [
      'a forwarded address',
      { path: '/api/agents', headers: { 'x-forwarded-for': '10.0.0.1' } },
      403,
      'host-not-allowed',
    ],
    [
      'a post from a page of another origin',
      post(chat, chatBody('t', 'x'), { origin: 'https://evil.example' }),
      403,
      'origin-not-allowed',
    ],
    ['a post from a file', post(chat, chatBody('t', 'x'), { origin: 'null' }), 403, 'origin-not-allowed'],
    [
      'a form from another site',
      post(chat, chatBody('t', 'x'), { 'sec-fetch-site': 'cross-site' }),
      403,
      'origin-not-allowed',
    ],
    [
      'a page on another port of this machine',
      post(chat, chatBody('t', 'x'), { origin: 'http://127.0.0.1:1' }),
      403,
      'origin-not-allowed',
    ],
  ];

  test.each(table)('refuses %s', async (_, sent, status, code) => {
    const { status: got, body } = await send(server.url, sent);
    const { error } = JSON.parse(body) as { error: { code: string; message: string; fix: string } };
    expect([got, error.code]).toEqual([status, code]);
    expect(error.fix).toBeTruthy();
    expect(body).not.toMatch(/node_modules|\.ts:\d|at \w+ \(/);
  });

  test('accepts a local proxy that forwards for a local browser', async () => {
    const headers = { 'x-forwarded-for': '::1, 127.0.0.1' };
    expect((await send(server.url, { path: '/api/agents', headers })).status).toBe(200);
  });

  test.each(['会話-1', 'größe', 'a\r\nx-forged: b', '100% 🎈'])('names the run %j in a header', async (runId) => {
    const input = { threadId: `t ${runId}`, runId, messages: [{ id: `m ${runId}`, role: 'user', content: 'Hi' }] };
    const response = await postJson(`${server.url}${agUi}`, input);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-forged')).toBeNull();
    expect(readRunHeaders(response).runId).toBe(runId);
    expect(await response.text()).toContain('RUN_FINISHED');
    const found = await fetch(`${server.url}/api/runs/${encodeURIComponent(runId)}`);
    expect(await found.json()).toMatchObject({ runId, state: 'complete' });
  });

  test('stores control characters and lone surrogates of a message unchanged', async () => {
    const text = 'a\u0000b \uD800 \u202e\n\r\ndata: forged\nid: 1';
    const { runId } = await sendMessage(server.url, { thread: 'poison\u200b', text });
    const { messages } = (await (
      await fetch(`${server.url}/api/threads/${encodeURIComponent('poison\u200b')}/messages`)
    ).json()) as {
      messages: Array<{ content: { parts: Array<{ text: string }> } }>;
    };
    expect(messages[0]!.content.parts[0]!.text).toBe(text);
    const events = await (await fetch(`${server.url}/api/runs/${runId}/events`)).text();
    expect(events).not.toMatch(/^data: forged/m);
  });

  test('answers other requests while a body arrives slowly', async () => {
    const { hostname, port } = new URL(server.url);
    const slow = connect(Number(port), hostname);
    slow.on('error', () => undefined);
    slow.write(`POST ${chat} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{`);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    slow.destroy();
  });

  test('sends no CORS headers to a foreign origin, and logs it once', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const preflight = await send(server.url, { method: 'OPTIONS', path: chat, headers });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, undefined]);
    const read = await send(server.url, { path: '/api/agents', headers: { origin: 'https://app.example' } });
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    const warnings = logged.filter(([event]) => event === 'foreign-origin');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]![1]!['fix']).toContain("cors: ['https://app.example']");
  });
});

test('accepts one answer to a question and reports duplicates, conflicts and unknown questions', async () => {
  const thread = 'replayed';
  const { runId } = await sendMessage(server.url, { thread, text: 'Send an email to Ada' });
  const open = await fetch(`${server.url}/api/questions?state=open&thread=${thread}`);
  const { questions } = (await open.json()) as { questions: Array<{ id: string }> };
  const answer = async (given: object): Promise<unknown> => {
    const response = await postJson(`${server.url}/api/runs/${runId}/answers`, { answers: [given] });
    const { verdicts } = (await response.json()) as { verdicts: Array<{ result: string }> };
    return [response.status, verdicts[0]?.result];
  };
  const yes = { questionId: questions[0]!.id, approved: true };
  const replies = await Promise.all([answer(yes), answer(yes), answer(yes)]);
  expect(replies.toSorted()).toEqual([
    [200, 'accepted'],
    [200, 'duplicate'],
    [200, 'duplicate'],
  ]);
  expect(await answer({ ...yes, approved: false })).toEqual([200, 'conflict']);
  expect(await answer({ ...yes, questionId: 'guess' })).toEqual([200, 'unknown']);
  const { runs } = (await (await fetch(`${server.url}/api/threads/${thread}/runs`)).json()) as { runs: unknown[] };
  expect(runs).toHaveLength(2);
});

test('rejects a request with both content-length and transfer-encoding', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const lengths = 'content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
  socket.write(`POST ${chat} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lengths}GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  await closed;
  expect(Buffer.concat(received).toString()).toMatch(/^HTTP\/1\.1 400 /);
  expect(Buffer.concat(received).toString()).not.toContain('200 OK');
});

test('logs no queries and headers, and no server errors for hostile requests', () => {
  expect(JSON.stringify(logged)).not.toMatch(/token=|authorization|cookie/i);
  expect(logged.filter(([event]) => event === 'failed' || event === 'refused' || event === 'run-host')).toEqual([]);
});
