// @ts-check
import { AgentsToAGUIAdapter, createAGUIEncoder, toAGUI, toAGUIResponse } from '@intertie/ag-ui';
import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';
import { streamText } from 'ai';

import { callsOf, streamOf, turnOf, wordsOf } from '../ag-ui/parts.mjs';
import { loadPeers, request } from '../ag-ui/peers.mjs';
import { measure } from '../measure.mjs';
import { modelOf } from '../model-of.mjs';

/** @import { Part } from '../ag-ui/parts.mjs' */
/** @import { Peer, Peers } from '../ag-ui/peers.mjs' */
/** @import { Row } from '../measure.mjs' */

const run = { runId: 'run-1', threadId: 'thread-1', messageId: 'message-1', startedAt: 0 };
const input = { ...run, history: [], answers: [], tools: [], context: [] };

/** Straight through the codecs: what each costs without streams around it. @param {Part[]} parts */
function transcodeParts(parts) {
  let count = 0;
  const ignore = () => undefined;
  const decoder = compose(createFullStreamDecoder(input, {}), seal(input, ignore));
  const codec = compose(decoder, createAGUIEncoder({ protocolVersion: '1.0' }));
  const emit = () => void (count += 1);
  for (const part of parts) codec.feed(part, emit);
  codec.end({ reason: 'eof' }, emit);
  return count;
}

/** @param {AsyncIterable<unknown>} items */
async function drain(items) {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

/**
 * Who tells less has less to do.
 * @param {Peer} peer
 * @param {Part[]} parts
 */
async function leftOutBy({ run: theirs }, parts) {
  const all = transcodeParts(parts);
  let told = 0;
  await theirs(streamOf(parts), () => void (told += 1));
  return told < all * 0.9 ? `theirs tells ${told} of the ${all} events` : undefined;
}

/** How a stream of parts is read through each door. @type {Record<string, (parts: AsyncIterable<unknown>) => Promise<number>>} */
const doors = {
  AgentsToAGUIAdapter: (fullStream) =>
    drain(new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI({ fullStream })),
  toAGUI: (fullStream) => drain(toAGUI({ fullStream }, { input: request })),
  bytes: (fullStream) =>
    drain(/** @type {AsyncIterable<unknown>} */ (toAGUIResponse({ fullStream }, { input: request }).body)),
};
/** Of the doors: ours has more to say than the others. @type {Record<string, string>} */
const notes = { AgentsToAGUIAdapter: 'ours says the time and the id on every event' };

/** What only computes is measured by the processor's time. @typedef {(contest: Parameters<typeof measure>[1]) => Promise<Row>} Compare */

/**
 * The codecs, the doors and the bytes, for one kind of turn that comes from a list.
 * @param {Compare} compare
 * @param {Peers} peers
 * @param {string} kind
 * @param {Part[]} parts
 */
async function ofKind(compare, peers, kind, parts) {
  /** @type {Row[]} */
  const rows = [];
  /** @param {string} door @param {() => unknown} ours @param {{ peerName: string, peer: () => unknown, note?: string }} other */
  const add = async (door, ours, other) => {
    rows.push(await compare({ name: `${door}: ${kind}`, events: parts.length, ours, ...other }));
  };
  const loop = { peerName: 'a loop that only reads the parts', peer: () => drain(streamOf(parts)) };
  /** @param {Peer} peer @param {string} [note] */
  const beside = async (peer, note) => ({
    peerName: peer.name,
    peer: () => peer.run(streamOf(parts), () => undefined),
    note: [note, await leftOutBy(peer, parts)].filter(Boolean).join('; '),
  });

  const codecs = () => transcodeParts(parts);
  await add('codecs alone', codecs, loop);
  for (const peer of peers.codecs) await add('codecs alone', codecs, await beside(peer));
  for (const door of ['AgentsToAGUIAdapter', 'toAGUI']) {
    for (const peer of peers.generators)
      await add(door, () => doors[door]?.(streamOf(parts)), await beside(peer, notes[door]));
  }
  const bytes = () => doors.bytes?.(streamOf(parts));
  await add('bytes', bytes, loop);
  for (const peer of peers.codecs) {
    const encoder = new TextEncoder();
    /** @param {object} event */
    const frame = (event) => void encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
    await add('bytes', bytes, {
      ...(await beside(peer)),
      peerName: `${peer.name}; framed`,
      peer: () => peer.run(streamOf(parts), frame),
    });
  }
  return rows;
}

/**
 * The doors on `streamText` itself, which takes most of the time then.
 * @param {Compare} compare
 * @param {Peers} peers
 */
async function ofStreamText(compare, peers) {
  const words = 10_000;
  const model = modelOf(words);
  const say = () => streamText({ model, prompt: 'Say it.' }).fullStream;
  /** @type {Row[]} */
  const rows = [];
  for (const door of ['AgentsToAGUIAdapter', 'toAGUI']) {
    for (const peer of peers.generators.filter(({ isFloor }) => !isFloor)) {
      rows.push(
        await compare({
          name: `${door} on streamText: ${words / 1000}k words`,
          events: words,
          ours: () => doors[door]?.(say()),
          peerName: peer.name,
          peer: () => peer.run(say(), () => undefined),
        }),
      );
    }
  }
  return rows;
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'ag-ui: what streamText says → AG-UI events and bytes (CPU time)',
  warmUpMs: 1000,
  async run(options) {
    /** @type {Compare} */
    const compare = (contest) => measure(options, { ...contest, clock: 'cpu' });
    const peers = await loadPeers();
    const [words, mixed, whole] = [
      turnOf(wordsOf(100_000)),
      turnOf([...wordsOf(50_000), ...callsOf(50, 1000, true)]),
      turnOf([...wordsOf(100_000), ...callsOf(50, 1000, false)]),
    ];
    return [
      ...(await ofKind(compare, peers, '100k words', words)),
      ...(await ofKind(compare, peers, '50k words and 50 calls of 1000 pieces', mixed)),
      ...(await ofKind(compare, peers, '100k words and 50 calls in one piece', whole)),
      ...(await ofStreamText(compare, peers)),
    ];
  },
};

export default suite;
