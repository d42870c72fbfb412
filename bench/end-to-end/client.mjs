// @ts-check
// Process of the client: reads streams as fast as they arrive, and reports the times.
import { Agent, request } from 'node:http';

import { runChild } from './child.mjs';
import { authorization, deltaTypes, buildRequest } from './requests.mjs';

/** @import { Endpoint, Place, Question } from './requests.mjs' */
/** @typedef {{ endpoint: Endpoint, question: Question, place?: Place }} Turn */

// One connection per request: a server may close a kept-alive connection at the moment of its reuse.
const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
/** Streams that were opened and not yet read to their end. @type {Array<ReturnType<typeof openStream>>} */
let open = [];

/**
 * @param {Endpoint['protocol']} protocol
 * @param {ReturnType<typeof buildRequest>} asked
 */
function openStream(protocol, { url, options, body }) {
  const marker = deltaTypes[protocol];
  const began = performance.now();
  /** @type {Buffer[]} */
  const pieces = [];
  /** @type {(ms: number) => void} */
  let onFirst = () => undefined;
  /** Milliseconds until the first text. @type {Promise<number>} */
  const first = new Promise((resolve) => (onFirst = resolve));
  /** Milliseconds until the end. @type {Promise<number>} */
  const whole = new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent }, (incoming) => {
      let isBegun = false;
      incoming.on('data', (/** @type {Buffer} */ piece) => {
        pieces.push(piece);
        if (isBegun || !Buffer.concat(pieces).includes(marker)) return;
        isBegun = true;
        onFirst(performance.now() - began);
      });
      incoming.once('error', reject);
      incoming.once('end', () => {
        if (incoming.statusCode === 200 && isBegun) resolve(performance.now() - began);
        else
          reject(
            new Error(`${url} answered ${incoming.statusCode}: ${Buffer.concat(pieces).toString('utf8', 0, 500)}`),
          );
      });
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
  // A failed stream rejects this promise if it is awaited, and must not cause an unhandled rejection otherwise.
  const begun = Promise.race([first, whole]);
  for (const promise of [begun, whole]) promise.catch(() => undefined);
  return { first: begun, whole, text: () => parseText(Buffer.concat(pieces).toString(), marker) };
}

/** @param {string} body @param {string} marker */
function parseText(body, marker) {
  let text = '';
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const frame = JSON.parse(line.slice('data: '.length));
    if (frame.type === marker) text += frame.delta;
  }
  return text;
}

/** Fails if deltas are missing. @param {ReturnType<typeof openStream>} stream @param {number} words */
function checkText(stream, words) {
  const { length } = stream.text();
  if (length !== words * 3) throw new Error(`A stream of ${words} words had ${length} characters, not ${words * 3}.`);
}

runChild({
  /** Reads one after the other, and returns the time to the first delta of each. @param {{ turns: Turn[] }} asked */
  async measureFirstDeltas({ turns }) {
    const times = [];
    for (const { endpoint, question, place = {} } of turns) {
      const stream = openStream(endpoint.protocol, buildRequest(endpoint, question, place));
      times.push(await stream.first);
      await stream.whole;
      checkText(stream, question.words);
    }
    return times;
  },

  /** Reads concurrently, and returns the time until all have ended. @param {{ turns: Turn[] }} asked */
  async readAll({ turns }) {
    const requests = turns.map(({ endpoint, question, place = {} }) => buildRequest(endpoint, question, place));
    const began = performance.now();
    const streams = requests.map((asked, index) => openStream(turns[index]?.endpoint.protocol ?? 'ui', asked));
    await Promise.all(streams.map(({ whole }) => whole));
    const took = performance.now() - began;
    for (const [index, stream] of streams.entries()) checkText(stream, turns[index]?.question.words ?? 0);
    return took;
  },

  /** Opens streams, and returns when each has sent its first delta. @param {{ turns: Turn[] }} asked */
  async open({ turns }) {
    const requests = turns.map(({ endpoint, question, place = {} }) => buildRequest(endpoint, question, place));
    const streams = requests.map((asked, index) => openStream(turns[index]?.endpoint.protocol ?? 'ui', asked));
    await Promise.all(streams.map(({ first }) => first));
    open.push(...streams);
  },

  /** Opens more readers of one stream, and returns when each has received its first delta. @param {{ url: string, token: string, readers: number }} asked */
  async join({ url, token, readers }) {
    const asked = { url, options: { headers: authorization(token) }, body: '' };
    const streams = Array.from({ length: readers }, () => openStream('ui', asked));
    await Promise.all(streams.map(({ first }) => first));
    open.push(...streams);
  },

  /** Reads all open streams to their end. @param {{ words: number }} asked */
  async finish({ words }) {
    const streams = open;
    open = [];
    await Promise.all(streams.map(({ whole }) => whole));
    for (const stream of streams) checkText(stream, words);
  },
});
