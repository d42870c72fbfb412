import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

export interface Served {
  url: string;
  close(): Promise<void>;
}

/** Serves a handler over HTTP on loopback. A body that errors breaks the connection like a crash would. */
export async function serve(handler: (request: Request) => Promise<Response>): Promise<Served> {
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing, handler));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handler: (request: Request) => Promise<Response>,
): Promise<void> {
  const closed = new AbortController();
  outgoing.on('close', () => closed.abort());
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const request = new Request(`http://localhost${incoming.url}`, {
    method: incoming.method ?? 'GET',
    headers: incoming.headers as Record<string, string>,
    signal: closed.signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
  });
  try {
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    const reader = response.body?.getReader();
    closed.signal.addEventListener('abort', () => void reader?.cancel().catch(() => undefined));
    for (;;) {
      const result = await reader?.read();
      if (result === undefined || result.done) break;
      outgoing.write(result.value);
    }
    outgoing.end();
  } catch {
    outgoing.destroy();
  }
}
