import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nodeListener, type Fetch } from './node-listener.ts';

async function listen(fetch: Fetch, onError?: (error: unknown) => void): Promise<number> {
  const server = createServer(nodeListener(fetch, onError));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends the lines of a request and returns everything that the server sends. */
async function send(port: number, ...lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  await once(socket, 'close');
  return answer;
}

test('breaks the connection if a stream fails, so that its response does not look complete', async () => {
  const onError = vi.fn<(error: unknown) => void>();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('data: a\n\n'));
      await wait(20);
      controller.error(new Error('broken'));
    },
  });
  const port = await listen(() => new Response(body), onError);
  const response = await fetch(`http://127.0.0.1:${port}/`);
  await expect(response.text()).rejects.toThrow('terminated');
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message: 'broken' }));
});

test('sends the headers before the first part of the body', async () => {
  let sendBody!: (text: string) => void;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      sendBody = (text) => {
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      };
    },
  });
  const port = await listen(() => new Response(body));
  const response = await fetch(`http://127.0.0.1:${port}/`);
  sendBody('late');
  expect(await response.text()).toBe('late');
});

test('stops reading the body while the client does not read', async () => {
  let produced = 0;
  const pull = (controller: ReadableStreamDefaultController): void => {
    produced += 65_536;
    controller.enqueue(new Uint8Array(65_536));
  };
  const port = await listen(() => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })));
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let before = -1;
  await vi.waitUntil(
    () => {
      const isStable = produced > 0 && produced === before;
      before = produced;
      return isStable;
    },
    { interval: 200, timeout: 10_000 },
  );
  expect(produced).toBeLessThan(20_000_000);
});

test('aborts the request and cancels the body when the client disconnects', async () => {
  const cancel = vi.fn<() => void>();
  let signal!: AbortSignal;
  const port = await listen(({ signal: given }) => {
    signal = given;
    return new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)), cancel }));
  });
  const client = request({ port }).end();
  const [response] = await once(client, 'response');
  await once(response as NodeJS.EventEmitter, 'data');
  client.once('error', () => undefined).destroy();
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce());
  expect(signal.aborted).toBe(true);
});

test.each(['OPTIONS * HTTP/1.1', 'GET http://elsewhere.example/ HTTP/1.1'])(
  'answers %s with 400 and an error of the API',
  async (line) => {
    const handler = vi.fn<Fetch>(() => new Response('ok'));
    const answer = await send(await listen(handler), line, 'Host: localhost');
    expect(answer).toContain('400 Bad Request');
    expect(answer).toContain('"code":"bad-request"');
    expect(handler).not.toHaveBeenCalled();
  },
);

test('ignores an invalid Host header', async () => {
  const port = await listen(({ url }) => new Response(url));
  expect(await send(port, 'GET /path HTTP/1.1', 'Host: a b/c')).toContain('http://localhost/path');
});

test('answers a refused body at once and discards the rest', async () => {
  const port = await listen(() => new Response('too large', { status: 413 }));
  const client = request({ port, method: 'POST', headers: { 'content-length': 50_000_000 } });
  client.on('error', () => undefined).write(Buffer.alloc(100_000));
  const [response] = (await once(client, 'response')) as [{ statusCode: number }];
  expect(response.statusCode).toBe(413);
  client.destroy();
});
