/// <reference types="node" />
// Needs Node for the HTTP server; the demo's fetch handler also runs in other runtimes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createMAILDemo, type MAILDemoOptions } from './demo/demo-handler.ts';

export { createMAILDemo } from './demo/demo-handler.ts';
export type { MAILDemoOptions } from './demo/demo-handler.ts';

export interface MAILDemoServer {
  url: string;
  stop(): Promise<void>;
}

/** Starts the demo server on loopback. Default port: any free one. */
export async function startMAILDemo({
  port = 0,
  ...options
}: MAILDemoOptions & { port?: number } = {}): Promise<MAILDemoServer> {
  const demo = createMAILDemo(options);
  const server = createServer((incoming, outgoing) => {
    respond(demo.fetch, incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  };
  const open = typeof address === 'object' && address ? address.port : port;
  return { url: `http://127.0.0.1:${open}`, stop };
}

async function respond(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const { method = 'GET', url = '/', headers } = incoming;
  const { authorization } = headers;
  const request = new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers: authorization === undefined ? {} : { authorization },
    ...(method === 'POST' && { body: new Blob(chunks as Uint8Array<ArrayBuffer>[]) }),
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  outgoing.once('close', () => void reader?.cancel().catch(() => undefined));
  for (;;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) break;
    outgoing.write(chunk.value);
  }
  outgoing.end();
}
