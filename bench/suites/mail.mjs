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

/** Feeds bytes in chunks, like a network. @param {Uint8Array} bytes @param {(text: string) => void} feed */
function inChunks(bytes, feed) {
  const decoder = new TextDecoder();
  for (let start = 0; start < bytes.length; start += chunkSize) {
    feed(decoder.decode(bytes.subarray(start, start + chunkSize), { stream: true }));
  }
}

/** Decodes bytes to the parts of a V3 model. @param {Uint8Array} bytes */
function toParts(bytes) {
  const decoder = createMAILDecoder(run);
  const sealed = compose(
    decoder,
    seal(run, () => undefined, { trusted: true }),
  );
  const codec = compose(sealed, createLanguageModelV3Encoder());
  let parts = 0;
  const emit = () => void (parts += 1);
  const parser = createParser({ onEvent: ({ event = '', data }) => codec.feed({ event, data }, emit) });
  inChunks(bytes, (text) => parser.feed(text));
  codec.end({ reason: 'eof' }, emit);
  return parts;
}

/** The minimum work of any reader. @param {Uint8Array} bytes */
function toObjects(bytes) {
  let events = 0;
  const parser = createParser({ onEvent: ({ data }) => void (events += JSON.parse(data) ? 1 : 0) });
  inChunks(bytes, (text) => parser.feed(text));
  return events;
}

/**
 * A task as long as the longer real ones: repeats the agents' actions of two captures with new ids each time, and ends with the
 * answer. The captures themselves are so short that they measure mostly the beginning and the end of a run.
 * @param {string[]} captures @param {number} rounds
 */
function longTask(captures, rounds) {
  const [delegating = [], parallel = []] = ['03', '04'].map((number) => {
    const name = captures.find((capture) => capture.startsWith(number)) ?? number;
    return readFileSync(new URL(name, folder), 'utf8').split(/(?<=\r\n\r\n)/);
  });
  /** @param {string} frame */
  const isEnd = (frame) => frame.includes('called task_complete"');
  const work = [delegating, parallel].flatMap((frames) => frames.slice(0, frames.findIndex(isEnd)));
  const end = delegating.slice(delegating.findIndex(isEnd));
  const repeated = Array.from({ length: rounds }, (_, round) =>
    work.map((frame) => frame.replaceAll(/"(id|tool_call_id)":"([^"]+)"/g, `"$1":"$2-${round}"`)),
  );
  return new TextEncoder().encode([...repeated.flat(), ...end].join(''));
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: `mail: captured bytes to V3 parts, beside parsing the events alone (${passes} passes each, the long one 10)`,
  warmUpMs: 1000,
  async run(options) {
    const captures = readdirSync(folder).filter((name) => name.endsWith('.sse'));
    /** @param {string[]} names */
    const readCaptures = (names) => names.map((file) => readFileSync(new URL(file, folder)));
    /** @type {Array<[name: string, bodies: Uint8Array[], passes: number]>} */
    const contests = [['all captures', readCaptures(captures), passes]];
    for (const number of ['03', '04', '34']) {
      const names = captures.filter((name) => name.startsWith(number));
      contests.push([names[0] ?? number, readCaptures(names), passes]);
    }
    contests.push(['one task of 60 rounds of 03 and 04', [longTask(captures, 60)], passes / 20]);
    // A server decodes for hours, so the first second, in which code is compiled, counts for neither party.
    options.progress('compiling');
    for (let pass = 0; pass < 4 * passes; pass++) {
      for (const body of contests[0]?.[1] ?? []) {
        toParts(body);
        toObjects(body);
      }
    }
    const rows = [];
    for (const [name, bodies, times] of contests) {
      const events = times * bodies.reduce((sum, body) => sum + toObjects(body), 0);
      /** @param {(bytes: Uint8Array) => unknown} read */
      const all = (read) => () => {
        for (let pass = 0; pass < times; pass++) for (const body of bodies) read(body);
      };
      const peerName = 'eventsource-parser + JSON.parse';
      rows.push(await measure(options, { name, events, ours: all(toParts), peerName, peer: all(toObjects) }));
    }
    return rows;
  },
};

export default suite;
