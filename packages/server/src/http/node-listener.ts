import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { IntertieError } from '../errors/intertie-error.ts';
import { incomingBody } from './incoming-body.ts';

export type Fetch = (
  request: Request,
  env?: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

/**
 * Adapts a fetch handler to Node's HTTP server, with backpressure. A response whose stream fails destroys the socket, so that
 * clients never take a truncated response for a complete one. The request's signal aborts when the client disconnects.
 */
export function nodeListener(fetch: Fetch, onError: (error: unknown) => void = () => undefined): RequestListener {
  return (incoming, outgoing) => {
    handleRequest(fetch, incoming, outgoing).catch((error: unknown) => {
      onError(error);
      outgoing.destroy();
    });
  };
}

/** Time that a client gets to finish sending a refused body, before its connection is closed. */
const lateBodyMs = 2_000;

async function handleRequest(fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const disconnected = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) disconnected.abort();
  });
  const request = toRequest(incoming, disconnected.signal);
  if (!request) {
    outgoing.writeHead(400, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(new IntertieError('bad-request', 'The method or the URL is invalid.').toBody()));
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
  // An unread body would block the next request of the connection, so it is discarded for a limited time.
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
    for (const item of Array.isArray(value) ? value : [value]) headers.append(name, item);
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
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  // No `close` event follows if the client has already disconnected.
  if (outgoing.destroyed) return cancel();
  outgoing.once('close', cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (outgoing.destroyed) return cancel();
      if (done) break;
      if (!outgoing.write(value)) await waitForDrain(outgoing);
    }
    outgoing.off('close', cancel);
    outgoing.end();
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

function waitForDrain(outgoing: ServerResponse): Promise<void> {
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
