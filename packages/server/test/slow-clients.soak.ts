import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { startDemoServer } from './demo-server.ts';

/** What a client sends that then says and reads nothing more. */
const slow: ReadonlyArray<[string, string]> = [
  ['says nothing at all', ''],
  ['has half a header', 'GET /health HTTP/1.1\r\nhost: 127.0'],
  ['has half a body', 'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{'],
  ['has got its answer', 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'],
];

test('who is slow for minutes is let go, and holds nobody up', async () => {
  const server = await startDemoServer();
  const { hostname, port } = new URL(server.url);
  const open = await Promise.all(
    slow.map(async ([who, sent]): Promise<[string, Socket]> => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(sent);
      return [who, socket];
    }),
  );
  const began = Date.now();
  const closed = open.map(async ([who, socket]) => {
    socket.resume();
    await once(socket, 'close');
    return `${who}: ${Math.round((Date.now() - began) / 1000)} s`;
  });
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  process.stdout.write(`${(await Promise.all(closed)).join('\n')}\n`);
  expect(Date.now() - began).toBeLessThan(180_000);
  await server.close();
});
