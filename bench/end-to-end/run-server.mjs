// @ts-check
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as tick } from 'node:timers/promises';

import { resumeResponses } from './requested-model.mjs';
import { runChild } from './child.mjs';

/**
 * Handles the suite's requests in every server's process.
 * @param {string} url
 * @param {{ close?: () => Promise<void>, answers?: Record<string, (details: any) => unknown> }} [own]
 */
export function runServer(url, { close, answers = {} } = {}) {
  const common = {
    resumeResponses,
    /** In bytes, after a full garbage collection. */
    async memory() {
      for (let n = 0; n < 3; n++) {
        globalThis.gc?.();
        await tick();
      }
      return process.memoryUsage.rss();
    },
    /** In milliseconds, since the process began. */
    cpu() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
  };
  runChild({ ...common, ...answers }, { url, ...(close && { close }) });
}

/**
 * Listens on loopback.
 * @param {import('node:http').RequestListener} listener
 * @returns {Promise<string>} where
 */
export function listen(listener) {
  const server = createServer(listener);
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
    });
  });
}

/**
 * A minimal route in plain Node.js: parses the JSON of the request, and writes a response.
 * @param {(body: any, signal: AbortSignal) => Response | Promise<Response>} route
 * @returns {import('node:http').RequestListener}
 */
export function plainRoute(route) {
  return async (incoming, outgoing) => {
    const closed = new AbortController();
    outgoing.once('close', () => closed.abort());
    let text = '';
    for await (const piece of incoming.setEncoding('utf8')) text += piece;
    const response = await route(JSON.parse(text), closed.signal);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    const body = /** @type {import('node:stream/web').ReadableStream} */ (response.body);
    Readable.fromWeb(body)
      .on('error', () => outgoing.destroy())
      .pipe(outgoing);
  };
}
