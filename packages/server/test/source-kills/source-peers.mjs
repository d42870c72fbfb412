// @ts-check
// Worker that serves the runtimes behind the sources: a MAIL swarm, an Open Harness server and an AG-UI agent with durable runs. Sends
// their URLs to its parent.
import { createAGUIHandler } from '@intertie/ag-ui';
import { Agent, createRunHost } from '@intertie/agent';
import { createInMemoryStore } from '@intertie/core';
import { startMAILDemo } from '@intertie/mail/demo';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

import { scriptSource } from './source-agents.mjs';

const recording = new URL('../../../open-harness/fixtures/head-4645c5d/phases.jsonl', import.meta.url);
const sessionEvents = readFileSync(recording, 'utf8').trim().split('\n');
/** @type {Map<string, number>} */
const startedAt = new Map();
const eventMs = 35;

/**
 * Serves sessions like the Open Harness server: the history, then live events, and no end. A session starts with its first reader.
 * @param {Request} request
 */
async function serveSessions(request) {
  const [, , session = '', what] = new URL(request.url).pathname.split('/');
  const start = startedAt.get(session) ?? Date.now();
  startedAt.set(session, start);
  const countEvents = () => Math.min(sessionEvents.length, Math.floor((Date.now() - start) / eventMs));
  if (what !== 'events') return Response.json({ running: countEvents() < sessionEvents.length });
  let sent = 0;
  const encoder = new TextEncoder();
  /** @type {ReadableStream<Uint8Array>} */
  const body = new ReadableStream({
    async pull(controller) {
      while (sent >= countEvents()) await sleep(eventMs, undefined, { signal: request.signal });
      controller.enqueue(encoder.encode(`data: ${sessionEvents[sent]}\n\n`));
      sent += 1;
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/**
 * Serves a handler on loopback. Returns its URL.
 * @param {(request: Request) => Promise<Response>} handler
 * @returns {Promise<string>}
 */
async function serve(handler) {
  const server = createServer((incoming, outgoing) => {
    const closed = new AbortController();
    outgoing.once('close', () => closed.abort());
    respond(incoming, outgoing, closed.signal).catch(() => outgoing.destroy());
  });
  /**
   * @param {import('node:http').IncomingMessage} incoming
   * @param {import('node:http').ServerResponse} outgoing
   * @param {AbortSignal} signal
   */
  async function respond(incoming, outgoing, signal) {
    const { method = 'GET', headers } = incoming;
    const sent =
      method === 'GET' ? {} : { body: new Blob(/** @type {Buffer<ArrayBuffer>[]} */ (await incoming.toArray())) };
    const init = { method, headers: /** @type {{ [name: string]: string }} */ (headers), signal, ...sent };
    const response = await handler(new Request(`http://localhost${incoming.url}`, init));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const body = /** @type {import('node:stream/web').ReadableStream} */ (response.body);
    Readable.fromWeb(body, { signal })
      .on('error', () => outgoing.destroy())
      .pipe(outgoing);
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const store = createInMemoryStore();
const remote = new Agent({ source: scriptSource(), store, host: createRunHost(store) });
const mail = await startMAILDemo({ paceMs: 100 });
const [openHarness, agUi] = await Promise.all([serve(serveSessions), serve(createAGUIHandler(remote))]);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- ports of workers have no origin
parentPort?.postMessage({ mail: mail.url, openHarness, agUi });
