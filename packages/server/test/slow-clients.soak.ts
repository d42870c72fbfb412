import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInMemoryStore, seal, sourceStream, type AgentEvent, type AgentSource } from '@intertie/core';
import { expect, test } from 'vitest';
import { serve } from '../src/serve.ts';
import { chatBody } from './client.ts';
import { startDemoServer } from './demo-server.ts';

/** Data that a client sends before it stops sending and reading. */
const slow: ReadonlyArray<[string, string]> = [
  ['sends nothing', ''],
  ['sends half a header', 'GET /health HTTP/1.1\r\nhost: 127.0'],
  ['sends half a body', 'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{'],
  ['has its response', 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
];

test('disconnects idle clients without blocking others', async () => {
  const server = await startDemoServer();
  const { hostname, port } = new URL(server.url);
  const open = await Promise.all(
    slow.map(async ([name, sent]): Promise<[string, Socket]> => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(sent);
      return [name, socket];
    }),
  );
  const began = Date.now();
  const closed = open.map(async ([name, socket]) => {
    socket.resume();
    await once(socket, 'close');
    return `${name}: ${Math.round((Date.now() - began) / 1000)} s`;
  });
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  process.stdout.write(`${(await Promise.all(closed)).join('\n')}\n`);
  expect(Date.now() - began).toBeLessThan(180_000);
  await server.close();
});

const delta = 'x'.repeat(10_000);
const deltas = 4000;

/** Emits more than the network buffers hold. */
const flood: AgentSource = {
  name: 'flood',
  pauses: 'replay',
  run(run, { signal }) {
    const open = async function* (): AsyncGenerator<AgentEvent> {
      yield { type: 'text-start', id: 't' };
      for (let index = 0; index < deltas; index++) yield { type: 'text-delta', id: 't', delta };
      yield { type: 'text-end', id: 't' };
      yield { type: 'run-end', outcome: 'complete' };
    };
    return sourceStream(
      open,
      seal(run, () => undefined),
      { signal },
    );
  },
};

test('disconnects a client that does not read without blocking its run', async () => {
  const server = await serve({ agents: { flood }, database: createInMemoryStore() }, { port: 0 });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.pause();
  const body = chatBody('flood', 'Go');
  socket.write(`POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const began = Date.now();
  const readText = async (path: string): Promise<string> => (await fetch(server.url + path)).text();
  const waitUntil = async (path: string, pattern: RegExp): Promise<number> => {
    while (!pattern.test(await readText(path))) await new Promise((resolve) => setTimeout(resolve, 200));
    return Math.round((Date.now() - began) / 1000);
  };
  const done = await waitUntil('/api/threads/flood/runs', /"state":"complete"/);
  const open = /^intertie_open_streams (\d+)$/m.exec(await readText('/metrics'))?.[1];
  expect(open).toBe('1');
  const gone = await waitUntil('/metrics', /^intertie_open_streams 0$/m);
  process.stdout.write(`the run ended after ${done} s, its reader was disconnected after ${gone} s\n`);
  expect(gone).toBeLessThan(300);
  socket.destroy();
  await server.close();
});
