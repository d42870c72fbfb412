import { request as httpRequest, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInMemoryStore } from '@intertie/core';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIntertie } from '../src/create-intertie.ts';
import type { LogFields } from '../src/telemetry/logger.ts';
import { chatBody } from './client.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import { post, send, type Got } from './raw-request.ts';

const token = 'a-token-that-is-hard-to-guess';
const servers: DemoServer[] = [];
const proxies: Server[] = [];
// Limits refill over time, so the clock is stopped.
beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});
afterAll(() => {
  for (const proxy of proxies) proxy.close();
});

async function start(config: Parameters<typeof startDemoServer>[0]): Promise<DemoServer> {
  const server = await startDemoServer(config);
  servers.push(server);
  return server;
}

/** A reverse proxy on loopback. The test names the client's address in `x-test-client`. */
async function startProxy(upstream: string): Promise<string> {
  const { hostname, port } = new URL(upstream);
  const proxy = createServer((incoming, outgoing) => {
    const { 'x-test-client': client = '192.0.2.1', ...headers } = incoming.headers;
    const forwarded = [headers['x-forwarded-for'], client].filter(Boolean).join(', ');
    const passed = {
      ...headers,
      host: `${hostname}:${port}`,
      'x-forwarded-for': forwarded,
      'x-forwarded-host': headers.host ?? '',
      'x-forwarded-proto': 'https',
    };
    const sent = httpRequest(
      { hostname, port, method: incoming.method, path: incoming.url, headers: passed },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(sent);
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

function bearer(secret: string, client?: string): { [name: string]: string } {
  return { authorization: `Bearer ${secret}`, ...(client !== undefined && { 'x-test-client': client }) };
}

function getThreads(url: string, headers: { [name: string]: string }): Promise<Got> {
  return send(url, { path: '/api/threads', headers });
}

async function guess(url: string, count: number, client?: string): Promise<number[]> {
  const guesses = Array.from({ length: count }, (_, index) => getThreads(url, bearer(`guess-${index}`, client)));
  return (await Promise.all(guesses)).map(({ status }) => status);
}

test('accepts the right token while wrong ones from the same proxy address are limited', async () => {
  const server = await start({ token });
  const proxy = await startProxy(server.url);
  const right: number[] = [];
  const wrong: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const [guessed, got] = await Promise.all([guess(proxy, 10), getThreads(proxy, bearer(token))]);
    wrong.push(...guessed);
    right.push(got.status);
  }
  expect(new Set(right)).toEqual(new Set([200]));
  expect(new Set(wrong)).toEqual(new Set([401, 429]));
  const signIn = await send(proxy, { path: `/?token=${token}` });
  expect(signIn.status).toBe(303);
});

test('accepts what the auth function accepts while wrong credentials are limited', async () => {
  const server = await start({
    auth: (request) => (request.headers.get('authorization') === 'Bearer ada' ? { id: 'ada' } : null),
  });
  expect(await guess(server.url, 40)).toContain(429);
  expect((await getThreads(server.url, bearer('ada'))).status).toBe(200);
});

test('does not count a failure of the auth function as wrong credentials', async () => {
  const server = await start({
    auth: () => {
      throw new Error('The directory is away.');
    },
  });
  expect(new Set(await guess(server.url, 40))).toEqual(new Set([500]));
});

test('limits each client of a trusted proxy by its own address', async () => {
  const server = await start({ token, trustProxy: ['127.0.0.0/8'] });
  const proxy = await startProxy(server.url);
  expect(await guess(proxy, 40, '192.0.2.1')).toContain(429);
  expect(await guess(proxy, 20, '192.0.2.2')).not.toContain(429);
});

test('gives all clients of a proxy one limit when the proxy is not trusted', async () => {
  const server = await start({ token });
  const proxy = await startProxy(server.url);
  expect(await guess(proxy, 40, '192.0.2.1')).toContain(429);
  expect(await guess(proxy, 20, '192.0.2.2')).toContain(429);
});

test('logs the address of the client', async () => {
  const logged: Array<LogFields | undefined> = [];
  const logger = {
    log: (_: string, event: string, fields?: LogFields) => void (event === 'request' && logged.push(fields)),
  };
  const server = await start({ token, trustProxy: 1, logger });
  const proxy = await startProxy(server.url);
  await getThreads(proxy, { ...bearer(token, '198.51.100.7'), 'x-forwarded-for': '203.0.113.66' });
  expect(logged.at(-1)).toMatchObject({ address: '198.51.100.7', status: 200 });
});

test('accepts a post from the origin of the forwarded host, and marks the cookie as secure', async () => {
  const body = chatBody('t', 'hello');
  const page = { ...bearer(token), host: 'app.example', origin: 'https://app.example' };
  const trusting = await startProxy((await start({ token, trustProxy: 1, hosts: ['app.example'] })).url);
  expect((await send(trusting, post('/api/agents/helper/chat', body, page))).status).toBe(200);
  const signIn = await send(trusting, { path: `/?token=${token}`, headers: { host: 'app.example' } });
  expect((signIn.headers['set-cookie'] as string[])[0]).toMatch(/; Secure$/);
  expect((await send(trusting, { path: '/api/agents', headers: { ...bearer(token), host: 'b.example' } })).status).toBe(
    403,
  );
  const wary = await startProxy((await start({ token })).url);
  expect((await send(wary, post('/api/agents/helper/chat', body, page))).status).toBe(403);
});

test('refuses proxied requests without a token, even from a trusted proxy', async () => {
  const server = await start({ trustProxy: 1 });
  const proxy = await startProxy(server.url);
  expect((await send(proxy, { path: '/api/agents', headers: { 'x-test-client': '192.0.2.1' } })).status).toBe(403);
  expect((await send(proxy, { path: '/api/agents', headers: { 'x-test-client': '127.0.0.1' } })).status).toBe(200);
  const rebound = { 'x-test-client': '127.0.0.1', host: 'evil.example' };
  expect((await send(proxy, { path: '/api/agents', headers: rebound })).status).toBe(403);
});

test.each(['//evil.example/', '/\\evil.example/', '///evil.example/%2e%2e', '//evil.example'])(
  'redirects from %s only to its own origin after a sign-in',
  async (path) => {
    const server = await start({ token });
    const { status, headers } = await send(server.url, { path: `${path}?token=${token}` });
    expect(status).toBe(303);
    expect(new URL(headers['location'] as string, server.url).origin).toBe(server.url);
  },
);

test('reads the trusted proxies from the environment', async () => {
  process.env['INTERTIE_TRUST_PROXY'] = '10.0.0.0/8, nowhere';
  try {
    await expect(
      createIntertie({
        agents: { a: { name: 'a', pauses: 'replay', run: () => new ReadableStream() } },
        database: createInMemoryStore(),
      }),
    ).rejects.toThrow(/^INTERTIE_TRUST_PROXY: "nowhere" is not an IP address/);
  } finally {
    delete process.env['INTERTIE_TRUST_PROXY'];
  }
});
