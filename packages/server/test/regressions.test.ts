import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRunHost, type RunHost } from '@intertie/agent';
import { createInMemoryStore, type AgentEvent, type AgentSource } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import { afterEach, expect, test, vi } from 'vitest';
import { unresponsiveSource } from '../../agent/test/unresponsive-source.ts';
import { fillFolder } from '../../postgres/test/databases.ts';
import type { AgentDefinition } from '@intertie/core';
import type { Principal } from '../src/config/config.ts';
import { createIntertie } from '../src/create-intertie.ts';
import { serve } from '../src/serve.ts';
import { askingSource } from './asking-source.ts';
import { chatBody, postJson } from './client.ts';

/** Resources to close after a test, even if it fails. */
const opened: Array<{ close(): Promise<void> }> = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await Promise.all(opened.splice(0).map((resource) => resource.close()));
});
function closeLater<T extends { close(): Promise<void> }>(resource: T): T {
  opened.push(resource);
  return resource;
}

const agents = { asker: askingSource() };
async function openStreams(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^intertie_open_streams (\d+)$/m.exec(text)?.[1]);
}

test('leaves no stream open if the client disconnects while its request is handled', async () => {
  const store = createInMemoryStore();
  const start = store.registry.start.bind(store.registry);
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  vi.spyOn(store.registry, 'start').mockImplementation(async (...args) => {
    await gate;
    return start(...args);
  });
  let posted: Request | undefined;
  const auth = (request: Request): Principal => {
    if (request.method === 'POST') posted = request;
    return { id: 'ann', operator: true };
  };
  const server = closeLater(await serve({ agents, auth, database: store }, { port: 0 }));
  const client = new AbortController();
  const answer = fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: chatBody('left', 'slow'),
    signal: client.signal,
  });
  await vi.waitFor(() => expect(store.registry.start).toHaveBeenCalled());
  client.abort();
  await expect(answer).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(posted?.signal.aborted).toBe(true));
  release();
  await vi.waitFor(async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    // The request is counted after its response, so the number of streams is final only then.
    expect(text).toMatch(/request_seconds_count\{method="POST"/);
    expect(text).toMatch(/^intertie_open_streams 0$/m);
  });
});

/** Starts a run that ends only when it is stopped. */
async function startSlowRun(url: string): Promise<string> {
  const response = await postJson(`${url}/api/chat`, chatBody('slow', 'slow'));
  const runId = response.headers.get('x-intertie-run')!;
  await response.body!.cancel();
  return runId;
}

test('counts streams of authenticated clients, and breaks them off on shutdown', async () => {
  const token = 'the-right-token-of-all';
  const config = { agents, token, database: createInMemoryStore(), limits: { streams: { perClient: 2, total: 10 } } };
  const server = closeLater(await serve(config, { port: 0 }));
  const headers = { authorization: `Bearer ${token}` };
  const open = (): Promise<Response> => fetch(`${server.url}/api/threads/t/events`, { headers });
  const first = await open();
  const second = await open();
  expect((await open()).status).toBe(429);
  await first.body!.cancel();
  const third = await vi.waitFor(async () => {
    const response = await open();
    expect(response.status).toBe(200);
    return response;
  });
  await server.close();
  await expect(second.text()).rejects.toThrow('terminated');
  await expect(third.text()).rejects.toThrow('terminated');
});

test('counts a long poll as a stream while it waits', async () => {
  const config = { agents, database: createInMemoryStore(), limits: { streams: { perClient: 2, total: 10 } } };
  const server = closeLater(await serve(config, { port: 0 }));
  const url = `${server.url}/streams/runs/${await startSlowRun(server.url)}`;
  await vi.waitFor(async () => expect(await (await fetch(url)).text()).toContain('see'));
  const left = new AbortController();
  const poll = (): Promise<Response> => fetch(`${url}?offset=now&live=long-poll`, { signal: left.signal });
  const waiting = [poll(), poll()].map((polled) => polled.catch(() => 'left'));
  await vi.waitFor(async () => expect(await openStreams(server.url)).toBe(2));
  expect((await poll()).status).toBe(429);
  left.abort();
  expect(await Promise.all(waiting)).toEqual(['left', 'left']);
  await vi.waitFor(async () => expect(await openStreams(server.url)).toBe(0));
});

test('responds immediately for a run without events', async () => {
  const silent: AgentSource = { name: 'silent', pauses: 'replay', run: () => new ReadableStream<AgentEvent>() };
  const server = closeLater(await serve({ agents: { silent }, database: createInMemoryStore() }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  for (const path of [`/api/runs/${runId}/events`, '/api/chat/slow/stream', '/api/agents/silent/ag-ui?threadId=slow']) {
    const response = await fetch(server.url + path);
    expect([path, response.status]).toEqual([path, 200]);
    await response.body!.cancel();
  }
});

/** Counts the followers of runs, and how many of them were cancelled. */
function countFollowers(store: ReturnType<typeof createInMemoryStore>): { opened: number; left: number } {
  const count = { opened: 0, left: 0 };
  const prototype = Object.getPrototypeOf(createRunHost(store)) as RunHost;
  const { follow } = prototype;
  vi.spyOn(prototype, 'follow').mockImplementation(function counted(this: RunHost, ...args) {
    count.opened += 1;
    const reader = follow.apply(this, args).getReader();
    return new ReadableStream<Followed>(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel(reason) {
          count.left += 1;
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  });
  return count;
}

test('uses no stream slot for HEAD on an event route', async () => {
  const server = closeLater(await serve({ agents, database: createInMemoryStore() }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  await vi.waitFor(async () => expect(await openStreams(server.url)).toBe(0));
  for (const path of [`/api/runs/${runId}/events`, '/api/threads/slow/events']) {
    const head = await fetch(server.url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  }
  expect(await openStreams(server.url)).toBe(0);
});

test('stops following a run if its events are cancelled before they are read', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  const followers = countFollowers(store);
  const events = await server.intertie.fetch(new Request(`http://localhost/api/runs/${runId}/events`));
  await events.body!.cancel();
  await vi.waitFor(() => expect(followers).toEqual({ opened: 1, left: 1 }));
});

test('ends the long poll of a disconnected client without waiting', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  const url = `http://localhost/streams/runs/${runId}?offset=now&live=long-poll`;
  // Waits for all events before the pause, or the poll would return them.
  await vi.waitFor(async () =>
    expect(await (await fetch(`${server.url}/streams/runs/${runId}`)).text()).toContain('see'),
  );
  const followers = countFollowers(store);
  const client = new AbortController();
  const response = server.intertie.fetch(new Request(url, { signal: client.signal }));
  await vi.waitFor(() => expect(followers.opened).toBe(1));
  client.abort();
  expect((await response).status).toBe(204);
}, 10_000);

/** Store that records which processes hold a lease. */
function leasedStore(mayBeat: () => Promise<void> = () => Promise.resolve()): {
  store: ReturnType<typeof createInMemoryStore>;
  leases: Set<string>;
} {
  const store = createInMemoryStore();
  const leases = new Set<string>();
  const heartbeat = store.registry.heartbeat.bind(store.registry);
  const retire = store.registry.retire.bind(store.registry);
  vi.spyOn(store.registry, 'heartbeat').mockImplementation(async (process, info) => {
    await mayBeat();
    await heartbeat(process, info);
    leases.add(process);
  });
  vi.spyOn(store.registry, 'retire').mockImplementation(async (process) => {
    leases.delete(process);
    await retire(process);
  });
  return { store, leases };
}

test('leaves one lease after concurrent reloads, and none after closing', async () => {
  const { store, leases } = leasedStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const config = { agents, database: store };
  await Promise.all([server.reload(config), server.reload(config)]);
  await vi.waitFor(() => expect(leases.size).toBe(1));
  await server.close();
  expect(leases.size).toBe(0);
});

test('keeps the lease of the new instance after a reload with a process name', async () => {
  const { store, leases } = leasedStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0, runs: { process: 'node-1' } }));
  await server.reload({ agents, database: store });
  await vi.waitFor(() => expect(store.registry.retire).toHaveBeenCalledWith('node-1'));
  expect([...leases]).toEqual(['node-1-1']);
});

test('stops the runs of the previous configuration when closing with drainMs 0 after a reload', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  await startSlowRun(server.url);
  await server.reload({ agents, database: store });
  await server.close({ drainMs: 0 });
  const [run] = await store.registry.listRuns(store.scope, { threadId: 'slow' });
  expect(run).toMatchObject({ state: 'aborted', outcome: { by: 'system', reason: 'shutdown' } });
}, 20_000);

test('closes without waiting for a source that ignores its signal', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents: { deaf: unresponsiveSource }, database: store }, { port: 0 }));
  await startSlowRun(server.url);
  await server.reload({ agents, database: store });
  await server.close({ drainMs: 0 });
  const [run] = await store.registry.listRuns(store.scope, { threadId: 'slow' });
  expect(run).toMatchObject({ state: 'aborted', outcome: { by: 'system', reason: 'shutdown' } });
});

test('rejects a reload during close and leaves no lease', async () => {
  let gate = Promise.resolve();
  const { store, leases } = leasedStore(() => gate);
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const config = { agents, database: store };
  let release = (): void => undefined;
  gate = new Promise<void>((resolve) => (release = resolve));
  const beats = vi.mocked(store.registry.heartbeat).mock.calls.length;
  const late = server.reload(config);
  late.catch(() => undefined);
  await vi.waitFor(() => expect(store.registry.heartbeat).toHaveBeenCalledTimes(beats + 1));
  const closed = server.close();
  release();
  await expect(late).rejects.toMatchObject({ code: 'closing' });
  await closed;
  await expect(server.reload(config)).rejects.toMatchObject({ code: 'closing' });
  expect(leases.size).toBe(0);
});

test('closes the database if the server cannot be created', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'intertie-'));
  try {
    const createSource = (): never => {
      throw new Error('no source');
    };
    const broken: AgentDefinition = { kind: 'source', dialect: 'source', createSource };
    const database = join(parent, 'data');
    // The first boot of an embedded database takes seconds.
    await fillFolder(database);
    const config = { agents: { broken }, token: '0123456789abcdef', database };
    await expect(createIntertie(config)).rejects.toThrow('no source');
    const files = await readdir(parent, { recursive: true });
    // An open folder is locked.
    expect(files.filter((file) => file.endsWith('lock'))).toEqual([]);
  } finally {
    await rm(parent, { recursive: true });
  }
});

test.each(['bearer', 'sign-in', 'cookie'])(
  'limits wrong tokens by %s, and still accepts the right token and a session',
  async (way) => {
    const token = 'the-right-token-of-all';
    // The clock stands still, so that the limit does not refill during the test.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const intertie = closeLater(await createIntertie({ agents, token, database: createInMemoryStore() }));
    const status = async (path: string, headers: { [name: string]: string } = {}): Promise<number> =>
      (await intertie.fetch(new Request(`http://localhost${path}`, { headers }))).status;
    const signedIn = await intertie.fetch(new Request(`http://localhost/?token=${token}`));
    const [session] = signedIn.headers.get('set-cookie')!.split(';');
    expect(session).not.toContain(token);
    const guess = (text: string): Promise<number> => {
      if (way === 'sign-in') return status(`/?token=${text}`);
      if (way === 'cookie') return status('/api/threads', { cookie: `intertie_session=${text}` });
      return status('/api/threads', { authorization: `Bearer ${text}` });
    };
    const seen: number[] = [];
    for (let index = 0; index < 25; index += 1) seen.push(await guess(`wrong-${index}`));
    expect([seen[0], seen.at(-1)]).toEqual([401, 429]);
    expect(await status('/api/threads', { authorization: `Bearer ${token}` })).toBe(200);
    expect(await status(`/?token=${token}`)).toBe(303);
    expect(await status('/api/threads', { cookie: session! })).toBe(200);
  },
);

test('rejects a short INTERTIE_TOKEN', async () => {
  vi.stubEnv('INTERTIE_TOKEN', 'abc');
  await expect(createIntertie({ agents, database: createInMemoryStore() })).rejects.toThrow(
    /^INTERTIE_TOKEN should have at least 16 characters/,
  );
});

test('checks the URL in addition to the Host header if the address of the client is unknown', async () => {
  const intertie = closeLater(await createIntertie({ agents, database: createInMemoryStore() }));
  const ask = async (url: string, headers: { [name: string]: string } = {}): Promise<[number, string | undefined]> => {
    const response = await intertie.fetch(new Request(`${url}/api/threads`, { headers }));
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code];
  };
  expect(await ask('http://203.0.113.9:3000', { host: 'localhost' })).toEqual([403, 'host-not-allowed']);
  expect(await ask('http://localhost', { host: 'evil.example' })).toEqual([403, 'host-not-allowed']);
  expect(await ask('http://localhost')).toEqual([200, undefined]);
  vi.stubEnv('NODE_ENV', 'production');
  expect(await ask('http://localhost')).toEqual([500, 'token-required']);
  // Node's server knows the address of the client.
  const server = closeLater(await serve({ agents, database: createInMemoryStore() }, { port: 0 }));
  expect((await fetch(`${server.url}/api/threads`)).status).toBe(200);
});

test('keeps idle connections open for longer than a load balancer does by default', async () => {
  const server = closeLater(await serve({ agents, database: createInMemoryStore() }, { port: 0 }));
  const response = await fetch(`${server.url}/health`);
  await response.text();
  const seconds = Number(/timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '')?.[1]);
  expect(seconds).toBeGreaterThan(60);
});

test.each([
  ['/v1/responses', { model: 'asker', input: 'Hi', stream: true }],
  ['/v1/chat/completions', { model: 'asker', messages: [{ role: 'user', content: 'Hi' }], stream: true }],
])('asks proxies not to buffer the stream of %s', async (path, body) => {
  const server = closeLater(await serve({ agents, database: createInMemoryStore() }, { port: 0 }));
  const response = await postJson(`${server.url}${path}`, body);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  await response.body?.cancel();
});
