import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { IntertieError } from '../errors/intertie-error.ts';
import { incomingBody } from './incoming-body.ts';

export type Fetch = (
  request: Request,
  env?: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

/**
 * Node's requests for a fetch handler. A response is written as fast as its client reads. One whose stream fails destroys the
 * socket: a client must never take what broke off for the end. The request's signal says that its client has left.
 */
export function nodeListener(fetch: Fetch, onError: (error: unknown) => void = () => undefined): RequestListener {
  return (incoming, outgoing) => {
    answer(fetch, incoming, outgoing).catch((error: unknown) => {
      onError(error);
      outgoing.destroy();
    });
  };
}

/** How long a client may go on sending a body that was refused, before its connection is closed. */
const lateBodyMs = 2_000;

async function answer(fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) left.abort();
  });
  const request = toRequest(incoming, left.signal);
  if (!request) {
    outgoing.writeHead(400, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(new IntertieError('bad-request', 'The method or the URL is none.').toBody()));
    return;
  }
  const response = await fetch(request, { incoming, outgoing });
  const headers: Array<[string, string]> = [...response.headers];
  outgoing.writeHead(response.status, headers.flat());
  if (response.body === null || incoming.method === 'HEAD') {
    await response.body?.cancel();
    outgoing.end();
  } else {
    outgoing.flushHeaders();
    await write(response.body, outgoing);
  }
  // What nobody has read of the body would keep the connection from its next request. It is thrown away, for a moment.
  if (incoming.complete || incoming.destroyed) return;
  if (request.body?.locked === false) await request.body.cancel();
  const timer = setTimeout(() => incoming.destroy(), lateBodyMs);
  incoming.once('close', () => clearTimeout(timer));
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers: given } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith(':') || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  const base = `http://${/^[\w.:[\]-]+$/.test(given.host ?? '') ? given.host : 'localhost'}`;
  if (!url.startsWith('/') || !URL.canParse(base + url)) return undefined;
  const body = method === 'GET' || method === 'HEAD' ? undefined : incomingBody(incoming);
  try {
    const init = { method, headers, signal, ...(body && { body, duplex: 'half' }) };
    return new Request(base + url, init);
  } catch {
    return undefined;
  }
}

async function write(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  // One that left while its request was handled says so no more.
  if (outgoing.destroyed) return leave();
  outgoing.once('close', leave);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return leave();
      if (done) break;
      if (!outgoing.write(value)) await drained(outgoing);
    }
    outgoing.off('close', leave);
    outgoing.end();
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.once('drain', done);
    outgoing.once('close', done);
  });
}
