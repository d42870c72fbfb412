// @ts-check
import { readdirSync, readFileSync } from 'node:fs';

import { createLanguageModelV3Encoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';
import { createMAILDecoder } from '@intertie/mail';
import { createParser } from 'eventsource-parser';

import { measure } from '../measure.mjs';

const folder = new URL('../../packages/mail/fixtures/', import.meta.url);
const chunkSize = 4096;
const passes = 200;

/** @type {import('@intertie/core').RunInput} */
const run = {
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};

/** As a wire brings it. @param {Uint8Array} bytes @param {(text: string) => void} feed */
function inChunks(bytes, feed) {
  const decoder = new TextDecoder();
  for (let start = 0; start < bytes.length; start += chunkSize) {
    feed(decoder.decode(bytes.subarray(start, start + chunkSize), { stream: true }));
  }
}

/** Bytes to the parts of a V3 model. @param {Uint8Array} bytes */
function toParts(bytes) {
  const decoder = createMAILDecoder(run);
  const sealed = compose(
    decoder,
    seal(run, () => undefined),
  );
  const codec = compose(sealed, createLanguageModelV3Encoder());
  let parts = 0;
  const emit = () => void (parts += 1);
  const parser = createParser({ onEvent: ({ event = '', data }) => codec.feed({ event, data }, emit) });
  inChunks(bytes, (text) => parser.feed(text));
  codec.end({ reason: 'eof' }, emit);
  return parts;
}

/** The least that any reader does. @param {Uint8Array} bytes */
function toObjects(bytes) {
  let events = 0;
  const parser = createParser({ onEvent: ({ data }) => void (events += JSON.parse(data) ? 1 : 0) });
  inChunks(bytes, (text) => parser.feed(text));
  return events;
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: `mail: captured bytes to V3 parts, beside parsing the events alone (${passes} passes each)`,
  async run(options) {
    const captures = readdirSync(folder).filter((name) => name.endsWith('.sse'));
    const contests = [
      ['all captures', captures],
      ...['03', '04', '34'].map((number) => {
        const names = captures.filter((name) => name.startsWith(number));
        return /** @type {const} */ ([names[0] ?? number, names]);
      }),
    ];
    const rows = [];
    for (const [name, names] of /** @type {Array<[string, string[]]>} */ (contests)) {
      const bodies = names.map((file) => readFileSync(new URL(file, folder)));
      const events = passes * bodies.reduce((sum, body) => sum + toObjects(body), 0);
      /** @param {(bytes: Uint8Array) => unknown} read */
      const all = (read) => () => {
        for (let pass = 0; pass < passes; pass++) for (const body of bodies) read(body);
      };
      const peerName = 'eventsource-parser + JSON.parse';
      rows.push(await measure(options, { name, events, ours: all(toParts), peerName, peer: all(toObjects) }));
    }
    return rows;
  },
};

export default suite;
