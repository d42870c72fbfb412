import { createInMemoryStore } from '@intertie/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatBody, postJson } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { post, send, type Got } from './raw-request.ts';

const chat = '/api/agents/helper/chat';

describe('with a token', () => {
  const token = 'a-token-that-nobody-guesses';
  let guarded: DemoServer;
  beforeAll(async () => {
    guarded = await startDemoServer({ token, cors: ['https://app.example'], limits: { requestsPerSecond: 1000 } });
  });
  afterAll(() => guarded.close());

  test('requires the token for everything but public paths', async () => {
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

  test('signs a browser in with a link and removes the token from the address', async () => {
    const { status, headers } = await send(guarded.url, { path: `/?token=${token}&pane=runs` });
    expect([status, headers['location']]).toEqual([303, '/?pane=runs']);
    const [cookie] = headers['set-cookie'] as string[];
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const signedIn = { cookie: cookie!.split(';')[0]! };
    expect((await send(guarded.url, { path: '/api/threads', headers: signedIn })).status).toBe(200);
    expect((await send(guarded.url, { path: '/?token=wrong' })).status).toBe(401);
  });

  test('allows a listed origin to read and send, and closes development routes', async () => {
    const headers = { authorization: `Bearer ${token}`, origin: 'https://app.example', host: 'chat.example' };
    const read = await send(guarded.url, { path: '/api/agents', headers });
    expect(read.headers['access-control-allow-origin']).toBe('https://app.example');
    const asked = { ...headers, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-run-id' };
    const preflight = await send(guarded.url, { method: 'OPTIONS', path: chat, headers: asked });
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'x-run-id']);
    const wire = post('/api/dev/wire', '{"thread":"x","cut":true}', { authorization: `Bearer ${token}` });
    expect((await send(guarded.url, wire)).status).toBe(403);
  });

  test('limits wrong tokens', async () => {
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
        return name ? { id: name, operator: name === 'prometheus' } : null;
      },
    });
  });
  afterAll(() => shared.close());

  test('shows metrics to operators only', async () => {
    const get = async (name: string): Promise<[number, string]> => {
      const { status, body } = await send(shared.url, { path: '/metrics', headers: as(name) });
      return [status, body];
    };
    const [status, body] = await get('ada');
    expect([status, JSON.parse(body)]).toMatchObject([403, { error: { code: 'operators-only' } }]);
    expect(await get('prometheus')).toEqual([200, expect.stringContaining('intertie_open_streams')]);
  });

  test('separates threads with the same id, and hides runs, branches and files of others', async () => {
    const question = await postJson(`${shared.url}${chat}`, chatBody('thread_1', 'Send an email to Zoe'), as('ada'));
    await question.text();
    const runId = question.headers.get('x-intertie-run')!;
    const messageId = question.headers.get('x-intertie-message')!;
    await (await postJson(`${shared.url}${chat}`, chatBody('thread_1', 'hello'), as('bob'))).text();
    const mine = (await (
      await fetch(`${shared.url}/api/threads/thread_1/messages`, { headers: as('bob') })
    ).json()) as { messages: unknown[] };
    expect(JSON.stringify(mine)).not.toContain('email to Zoe');
    const { questions } = (await (await fetch(`${shared.url}/api/questions`, { headers: as('ada') })).json()) as {
      questions: Array<{ id: string }>;
    };
    const answers = { answers: [{ questionId: questions[0]!.id, approved: true }] };
    const forbidden: Array<[string, Promise<Response>]> = [
      ['read', fetch(`${shared.url}/api/runs/${runId}/events`, { headers: as('bob') })],
      ['follow', fetch(`${shared.url}/streams/runs/${runId}`, { headers: as('bob') })],
      ['stop', postJson(`${shared.url}/api/runs/${runId}/stop`, {}, as('bob'))],
      ['answer', postJson(`${shared.url}/api/runs/${runId}/answers`, answers, as('bob'))],
      ['see', fetch(`${shared.url}/api/runs/${runId}`, { headers: as('bob') })],
      [
        'go to a branch',
        fetch(`${shared.url}/api/threads/thread_1`, {
          method: 'PATCH',
          headers: as('bob'),
          body: JSON.stringify({ headId: messageId }),
        }),
      ],
      ['read a branch', fetch(`${shared.url}/api/threads/thread_1/messages?leaf=${messageId}`, { headers: as('bob') })],
      [
        'delete',
        fetch(`${shared.url}/api/threads/thread_1/messages/${messageId}`, { method: 'DELETE', headers: as('bob') }),
      ],
    ];
    for (const [action, response] of forbidden) expect([action, (await response).status]).toEqual([action, 404]);
    expect(await (await fetch(`${shared.url}/api/questions`, { headers: as('bob') })).json()).toEqual({
      questions: [],
    });
    const uploaded = await fetch(`${shared.url}/api/blobs`, { method: 'POST', body: 'secret', headers: as('ada') });
    const { url } = (await uploaded.json()) as { url: string };
    expect((await fetch(shared.url + url, { headers: as('bob') })).status).toBe(404);
    expect((await fetch(shared.url + url, { headers: as('ada') })).status).toBe(200);
  });
});

test('limits requests and streams, with a retry-after header', async () => {
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

test('requires a token on an address that other machines can reach', async () => {
  await expect(startDemoServer({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'token-required' });
});
