import { createRunHost, type RunHost } from '@intertie/agent';
import { createInMemoryStore, type Followed } from '@intertie/core';
import { afterEach, expect, test, vi } from 'vitest';
import { serve } from '../src/serve.ts';
import { askingSource } from './asking-source.ts';
import { chatBody, postJson } from './client.ts';

/** What is closed after a test, whether it fails or not. */
const opened: Array<{ close(): Promise<void> }> = [];
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
function closeLater<T extends { close(): Promise<void> }>(one: T): T {
  opened.push(one);
  return one;
}

const agents = { asker: askingSource() };
async function openStreams(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^intertie_open_streams (\d+)$/m.exec(text)?.[1]);
}

test('a client that leaves while its request is handled leaves no stream open', async () => {
  const store = createInMemoryStore();
  const start = store.registry.start.bind(store.registry);
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  vi.spyOn(store.registry, 'start').mockImplementation(async (...given) => {
    await gate;
    return start(...given);
  });
  let asked: Request | undefined;
  const auth = (request: Request): { id: string } => {
    if (request.method === 'POST') asked = request;
    return { id: 'ann' };
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
  await vi.waitFor(() => expect(asked?.signal.aborted).toBe(true));
  goOn();
  await vi.waitFor(async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    // The request is counted when its answer is there; only then does the number of streams say something.
    expect(text).toMatch(/request_seconds_count\{method="POST"/);
    expect(text).toMatch(/^intertie_open_streams 0$/m);
  });
});

/** A run that does not end by itself. */
async function startSlowRun(url: string): Promise<string> {
  const response = await postJson(`${url}/api/chat`, chatBody('slow', 'slow'));
  const runId = response.headers.get('x-intertie-run')!;
  await response.body!.cancel();
  return runId;
}

/** How many followers of runs were let go by their readers. */
function countLeft(store: ReturnType<typeof createInMemoryStore>): { opened: number; left: number } {
  const count = { opened: 0, left: 0 };
  const prototype = Object.getPrototypeOf(createRunHost(store)) as RunHost;
  const { follow } = prototype;
  vi.spyOn(prototype, 'follow').mockImplementation(function counted(this: RunHost, ...given) {
    count.opened += 1;
    const reader = follow.apply(this, given).getReader();
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

test('HEAD on a route of events takes no stream slot', async () => {
  const server = closeLater(await serve({ agents, database: createInMemoryStore() }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  await vi.waitFor(async () => expect(await openStreams(server.url)).toBe(0));
  for (const path of [`/api/runs/${runId}/events`, '/api/threads/slow/events']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const head = await fetch(server.url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  }
  expect(await openStreams(server.url)).toBe(0);
});

test('events that are cancelled before they are read let go of the run', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  const followers = countLeft(store);
  const events = await server.intertie.fetch(new Request(`http://localhost/api/runs/${runId}/events`));
  await events.body!.cancel();
  await vi.waitFor(() => expect(followers).toEqual({ opened: 1, left: 1 }));
});

test('a long poll of a client that has left already waits for nothing', async () => {
  const store = createInMemoryStore();
  const server = closeLater(await serve({ agents, database: store }, { port: 0 }));
  const runId = await startSlowRun(server.url);
  const url = `http://localhost/streams/runs/${runId}?offset=now&live=long-poll`;
  // All that the run says before it waits has to be there, or it is what the poll gets.
  await vi.waitFor(async () =>
    expect(await (await fetch(`${server.url}/streams/runs/${runId}`)).text()).toContain('see'),
  );
  const followers = countLeft(store);
  const { status } = await server.intertie.fetch(new Request(url, { signal: AbortSignal.abort() }));
  expect(status).toBe(204);
  expect(followers.opened).toBe(1);
}, 10_000);
