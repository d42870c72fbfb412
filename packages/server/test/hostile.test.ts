import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { createInMemoryStore } from '@intertie/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogFields } from '../src/logger.ts';
import { chatBody, postJson, say } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';

type Sent = { method?: string; path: string; headers?: { [name: string]: string }; body?: string | Uint8Array };
type Got = { status: number; headers: { [name: string]: unknown }; body: string };

/** Below `fetch`, which forges neither Host nor Origin. */
function send(url: string, { method = 'GET', path, headers = {}, body }: Sent): Promise<Got> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

let server: DemoServer;
const logged: Array<[string, LogFields | undefined]> = [];
beforeAll(async () => {
  const logger = { log: (_: string, event: string, fields?: LogFields): void => void logged.push([event, fields]) };
  server = await startDemoServer({ limits: { bodyBytes: 200_000 }, logger });
});
afterAll(() => server.close());

const chat = '/api/agents/helper/chat';
const post = (path: string, body: string | Uint8Array, headers: { [name: string]: string } = {}): Sent => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});

describe('what a stranger sends, and what it gets', () => {
  const table: Array<[string, Sent, number, string]> = [
    ['malformed JSON', post(chat, '{"id":'), 400, 'bad-request'],
    ['JSON of another kind', post(chat, '[1,2,3]'), 400, 'bad-request'],
    ['messages that are none', post(chat, '{"id":"a","messages":"no"}'), 400, 'bad-request'],
    ['a message without parts', post(chat, '{"id":"a","messages":[{"role":"user"}]}'), 400, 'bad-request'],
    ['an endless body', post(chat, 'x'.repeat(300_000)), 413, 'too-large'],
    [
      'a body that is longer than it says',
      post(chat, 'y'.repeat(300_000), { 'transfer-encoding': 'chunked' }),
      413,
      'too-large',
    ],
    ['bytes that are no UTF-8', post('/api/runs/x/stop', new Uint8Array([0xff, 0xfe, 0x22])), 400, 'bad-json'],
    ['fields that nobody knows', post('/api/runs/x/stop', '{"force":true}'), 400, 'bad-request'],
    ['answers of no kind', post('/api/runs/x/answers', '{"answers":[{"id":1}]}'), 400, 'bad-request'],
    ['no answers', post('/api/runs/x/answers', '{"answers":[]}'), 400, 'bad-request'],
    ['a guessed run', { path: '/api/runs/guess' }, 404, 'no-run'],
    ['a guessed thread', { path: '/api/threads/guess/messages' }, 404, 'no-thread'],
    ['a guessed stream', { path: '/streams/runs/guess' }, 404, 'no-run'],
    ['a guessed file', { path: `/api/blobs/${'a'.repeat(64)}` }, 404, 'no-blob'],
    ['a file by a path', { path: '/api/blobs/..%2f..%2fpackage.json' }, 404, 'no-blob'],
    ['a way out of the folder', { path: '/..%2f..%2fpackage.json' }, 404, 'not-found'],
    ['an unknown agent', post('/api/agents/nobody/chat', '{}'), 404, 'no-agent'],
    ['a property of objects as an agent', { path: '/api/agents/__proto__/topology' }, 404, 'no-agent'],
    ['an id with NUL', { path: '/api/threads/a%00b' }, 400, 'bad-id'],
    ['an id without end', { path: `/api/threads/${'a'.repeat(300)}` }, 400, 'bad-id'],
    ['a limit that is none', { path: '/api/threads?limit=many' }, 400, 'bad-request'],
    ['a cursor that is none', { path: '/api/runs/x/events?after=yesterday' }, 400, 'bad-request'],
    ['an offset that is none', { path: '/streams/runs/x?offset=12' }, 404, 'no-run'],
    ['a method that the path does not take', { method: 'PUT', path: '/api/threads' }, 405, 'method-not-allowed'],
    ['a forged Host', { path: '/api/agents', headers: { host: 'evil.example' } }, 403, 'host-not-allowed'],
    [
      'a Host that looks like ours',
      { path: '/api/agents', headers: { host: 'localhost.evil.example' } },
      403,
      'host-not-allowed',
    ],
    ['a proxy’s word', { path: '/api/agents', headers: { 'x-forwarded-for': '10.0.0.1' } }, 403, 'host-not-allowed'],
    [
      'a post from another page',
      post(chat, chatBody('t', 'x'), { origin: 'https://evil.example' }),
      403,
      'origin-not-allowed',
    ],
    ['a post from a file', post(chat, chatBody('t', 'x'), { origin: 'null' }), 403, 'origin-not-allowed'],
    [
      'a form of another site',
      post(chat, chatBody('t', 'x'), { 'sec-fetch-site': 'cross-site' }),
      403,
      'origin-not-allowed',
    ],
    [
      'another port of this machine',
      post(chat, chatBody('t', 'x'), { origin: 'http://127.0.0.1:1' }),
      403,
      'origin-not-allowed',
    ],
  ];

  test.each(table)('%s', async (_, sent, status, code) => {
    const { status: got, body } = await send(server.url, sent);
    const { error } = JSON.parse(body) as { error: { code: string; message: string; fix: string } };
    expect([got, error.code]).toEqual([status, code]);
    expect(error.fix).toBeTruthy();
    expect(body).not.toMatch(/node_modules|\.ts:\d|at \w+ \(/);
  });

  test('a proxy on this machine, for a browser on this machine, is let through', async () => {
    const headers = { 'x-forwarded-for': '::1, 127.0.0.1' };
    expect((await send(server.url, { path: '/api/agents', headers })).status).toBe(200);
  });

  test('poison in a message is kept as it is, and answered', async () => {
    const text = 'a\u0000b \uD800 \u202e\n\r\ndata: forged\nid: 1';
    const { runId } = await say(server.url, { thread: 'poison\u200b', text });
    const { messages } = (await (
      await fetch(`${server.url}/api/threads/${encodeURIComponent('poison\u200b')}/messages`)
    ).json()) as {
      messages: Array<{ content: { parts: Array<{ text: string }> } }>;
    };
    expect(messages[0]!.content.parts[0]!.text).toBe(text);
    const events = await (await fetch(`${server.url}/api/runs/${runId}/events`)).text();
    expect(events).not.toMatch(/^data: forged/m);
  });

  test('a slow body does not hold the others up, and a half-open connection is nothing', async () => {
    const { hostname, port } = new URL(server.url);
    const slow = connect(Number(port), hostname);
    slow.on('error', () => undefined);
    slow.write(`POST ${chat} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{`);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    slow.destroy();
  });

  test('a preflight from elsewhere is allowed nothing, and a read is not shown to it', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
    const preflight = await send(server.url, { method: 'OPTIONS', path: chat, headers });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, undefined]);
    const read = await send(server.url, { path: '/api/agents', headers: { origin: 'https://app.example' } });
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    const told = logged.filter(([event]) => event === 'foreign-origin');
    expect(told).toHaveLength(1);
    expect(told[0]![1]!['fix']).toContain("cors: ['https://app.example']");
  });
});

describe('with a token', () => {
  const token = 'a-token-that-nobody-guesses';
  let guarded: DemoServer;
  beforeAll(async () => {
    guarded = await startDemoServer({ token, cors: ['https://app.example'], limits: { requestsPerSecond: 1000 } });
  });
  afterAll(() => guarded.close());

  test('nothing without it, everything with it', async () => {
    const get = (headers: { [name: string]: string } = {}): Promise<Got> =>
      send(guarded.url, { path: '/api/threads', headers });
    expect((await get()).status).toBe(401);
    expect((await get({ authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await get({ authorization: `Bearer ${token}` })).status).toBe(200);
    for (const path of ['/metrics', '/api/agents', '/streams/runs/x', '/api/questions']) {
      expect((await send(guarded.url, { path })).status).toBe(401);
    }
    for (const path of ['/health', '/ready', '/api/errors/busy', '/'])
      expect((await send(guarded.url, { path })).status).toBe(200);
  });

  test('a browser signs in with a link, and the secret leaves the address', async () => {
    const { status, headers } = await send(guarded.url, { path: `/?token=${token}&pane=runs` });
    expect([status, headers['location']]).toEqual([303, '/?pane=runs']);
    const [cookie] = headers['set-cookie'] as string[];
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const signedIn = { cookie: cookie!.split(';')[0]! };
    expect((await send(guarded.url, { path: '/api/threads', headers: signedIn })).status).toBe(200);
    expect((await send(guarded.url, { path: '/?token=wrong' })).status).toBe(401);
  });

  test('an origin that is listed may read and send; what a developer at the machine may is closed', async () => {
    const headers = { authorization: `Bearer ${token}`, origin: 'https://app.example', host: 'chat.example' };
    const read = await send(guarded.url, { path: '/api/agents', headers });
    expect(read.headers['access-control-allow-origin']).toBe('https://app.example');
    const wire = post('/api/dev/wire', '{"thread":"x","cut":true}', { authorization: `Bearer ${token}` });
    expect((await send(guarded.url, wire)).status).toBe(403);
  });

  test('guessing is slowed down', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        send(guarded.url, { path: '/api/threads', headers: { authorization: `Bearer guess-${index}` } }),
      ),
    );
    expect(guesses.map(({ status }) => status)).toContain(429);
  });
});

describe('two principals on one server', () => {
  let shared: DemoServer;
  const as = (name: string): { [name: string]: string } => ({ authorization: name });
  beforeAll(async () => {
    shared = await startDemoServer({
      database: createInMemoryStore(),
      auth: (request) => {
        const name = request.headers.get('authorization');
        return name ? { id: name } : null;
      },
    });
  });
  afterAll(() => shared.close());

  test('the same thread id is two threads; nobody reads, stops, answers or branches another’s', async () => {
    const ask = await postJson(`${shared.url}${chat}`, chatBody('thread_1', 'Send an email to Zoe'), as('ada'));
    await ask.text();
    const runId = ask.headers.get('x-intertie-run')!;
    const messageId = ask.headers.get('x-intertie-message')!;
    await (await postJson(`${shared.url}${chat}`, chatBody('thread_1', 'hello'), as('bob'))).text();
    const mine = (await (
      await fetch(`${shared.url}/api/threads/thread_1/messages`, { headers: as('bob') })
    ).json()) as { messages: unknown[] };
    expect(JSON.stringify(mine)).not.toContain('email to Zoe');
    const { questions } = (await (await fetch(`${shared.url}/api/questions`, { headers: as('ada') })).json()) as {
      questions: Array<{ id: string }>;
    };
    const answers = { answers: [{ questionId: questions[0]!.id, approved: true }] };
    const stolen: Array<[string, Promise<Response>]> = [
      ['read', fetch(`${shared.url}/api/runs/${runId}/events`, { headers: as('bob') })],
      ['follow', fetch(`${shared.url}/streams/runs/${runId}`, { headers: as('bob') })],
      ['stop', postJson(`${shared.url}/api/runs/${runId}/stop`, {}, as('bob'))],
      ['answer', postJson(`${shared.url}/api/runs/${runId}/answers`, answers, as('bob'))],
      [
        'delete',
        fetch(`${shared.url}/api/threads/thread_1/messages/${messageId}`, { method: 'DELETE', headers: as('bob') }),
      ],
    ];
    for (const [what, response] of stolen) expect([what, (await response).status]).toEqual([what, 404]);
    expect(await (await fetch(`${shared.url}/api/questions`, { headers: as('bob') })).json()).toEqual({
      questions: [],
    });
    const kept = await fetch(`${shared.url}/api/blobs`, { method: 'POST', body: 'secret', headers: as('ada') });
    const { url } = (await kept.json()) as { url: string };
    expect((await fetch(shared.url + url, { headers: as('bob') })).status).toBe(404);
    expect((await fetch(shared.url + url, { headers: as('ada') })).status).toBe(200);
  });
});

test('too many requests and too many streams are refused with a time to come again', async () => {
  const small = await startDemoServer({ limits: { requestsPerSecond: 5, streams: { perClient: 2, total: 10 } } });
  const open = [await fetch(`${small.url}/api/threads/a/events`), await fetch(`${small.url}/api/threads/a/events`)];
  const third = await fetch(`${small.url}/api/threads/a/events`);
  expect([third.status, await third.json()]).toMatchObject([429, { error: { code: 'too-many-streams' } }]);
  for (const response of open) await response.body?.cancel();
  const all = await Promise.all(Array.from({ length: 30 }, () => fetch(`${small.url}/api/agents`)));
  const refused = all.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.headers.get('retry-after')).toMatch(/^\d+$/);
  await small.close();
});

test('an address that others can reach needs a token', async () => {
  await expect(startDemoServer({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'token-required' });
});

test('no request’s log has a query or a header in it', () => {
  expect(JSON.stringify(logged)).not.toMatch(/token=|authorization|cookie/i);
});
