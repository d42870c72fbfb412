import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

export interface PageOptions {
  /** Folder of the built page. */
  folder: string;
  /** Handles `/api/chat` and all paths below it. */
  chat: (request: Request) => Promise<Response>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** Serves a page and its chat route, on loopback only. */
export async function servePage(port: number, options: PageOptions): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, options).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, options: PageOptions): Promise<void> {
  // Prevents DNS rebinding: another site whose name resolves to this machine is refused.
  if (!/^(localhost|127\.0\.0\.1)(:\d+)?$/.test(incoming.headers.host ?? '')) return void outgoing.writeHead(403).end();
  const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
  if (pathname === '/api/chat' || pathname.startsWith('/api/chat/')) return chat(incoming, outgoing, options.chat);
  await file(pathname, outgoing, options.folder);
}

async function file(pathname: string, outgoing: ServerResponse, folder: string): Promise<void> {
  const name = pathname === '/' ? '/index.html' : pathname;
  const type = types[extname(name)];
  // All files of the page are in one folder, so other paths are refused.
  if (type === undefined || !/^\/[\w-]+\.[\w.]+$/.test(name)) return void outgoing.writeHead(404).end();
  try {
    const body = await readFile(join(folder, name));
    outgoing.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(body);
  } catch {
    outgoing.writeHead(404).end();
  }
}

/** Converts Node's request and response to web standards. */
async function chat(incoming: IncomingMessage, outgoing: ServerResponse, handler: PageOptions['chat']): Promise<void> {
  const left = new AbortController();
  outgoing.on('close', () => left.abort());
  const { method = 'GET', headers, url } = incoming;
  const body = method === 'POST' ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
  const request = new Request(`http://localhost${url}`, {
    method,
    headers: headers as Record<string, string>,
    signal: left.signal,
    ...(body && { body, duplex: 'half' }),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void outgoing.end();
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>), outgoing);
}
