// @ts-check
import { setFlagsFromString } from 'node:v8';

import { AgentsToAGUIAdapter, createAGUIEncoder, toAGUI, toAGUIResponse } from '@intertie/ag-ui';
import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';
import { streamText } from 'ai';

import { callsOf, streamOf, turnOf, wordsOf } from '../ag-ui/parts.mjs';
import { loadPeers, request } from '../ag-ui/peers.mjs';
import { besides, inTurns, spread, time } from '../measure.mjs';
import { modelOf } from '../model-of.mjs';

/** @import { Part } from '../ag-ui/parts.mjs' */
/** @import { Peer, Peers } from '../ag-ui/peers.mjs' */
/** @import { Options, Row } from '../measure.mjs' */

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

/** How a stream of parts is read through each door. */
const doors = {
  AgentsToAGUIAdapter: (/** @type {AsyncIterable<unknown>} */ fullStream) =>
    drain(new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI({ fullStream })),
  toAGUI: (/** @type {AsyncIterable<unknown>} */ fullStream) => drain(toAGUI({ fullStream }, { input: request })),
  bytes: (/** @type {AsyncIterable<unknown>} */ fullStream) =>
    drain(/** @type {AsyncIterable<unknown>} */ (toAGUIResponse({ fullStream }, { input: request }).body)),
};
const adapterNote = 'ours says the time and the id on every event';

/** @typedef {{ peerName: string, run: () => unknown, note?: string }} Beside */

/**
 * One of ours and all that stand beside it, in turns. What only computes is measured by the processor's time.
 * @param {Options} options
 * @param {{ name: string, events: number, run: () => unknown }} ours
 * @param {Beside[]} others
 * @returns {Promise<Row[]>}
 */
async function contest(options, { name, events, run: work }, others) {
  const parties = [work, ...others.map(({ run: theirs }) => theirs)].map((each) => () => time(each, 'cpu'));
  const [ours = [], ...theirs] = await inTurns(options, name, parties);
  return others.map(({ peerName, note }, index) => ({
    name,
    events,
    ours: spread(ours),
    peerName,
    ...(note && { note }),
    ...besides(ours, theirs[index] ?? []),
  }));
}

/**
 * The codecs, the doors and the bytes, for one kind of turn that comes from a list.
 * @param {Options} options
 * @param {Peers} peers
 * @param {string} kind
 * @param {Part[]} parts
 */
async function ofKind(options, peers, kind, parts) {
  const events = parts.length;
  /** @type {Beside} */
  const loop = { peerName: 'a loop that only reads the parts', run: () => drain(streamOf(parts)) };
  /** @param {Peer[]} some @param {string} [note] @param {(event: object) => void} [onEvent] @returns {Promise<Beside[]>} */
  const beside = (some, note, onEvent = () => undefined) =>
    Promise.all(
      some.map(async (peer) => ({
        peerName: peer.name,
        run: () => peer.run(streamOf(parts), onEvent),
        note: [note, await leftOutBy(peer, parts)].filter(Boolean).join('; '),
      })),
    );
  const encoder = new TextEncoder();
  /** @param {object} event */
  const frame = (event) => void encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
  const framed = (await beside(peers.codecs, undefined, frame)).map((each) => ({
    ...each,
    peerName: `${each.peerName}; framed`,
  }));
  /** @param {string} door @param {() => unknown} work @param {Beside[]} others */
  const rowsOf = (door, work, others) => contest(options, { name: `${door}: ${kind}`, events, run: work }, others);
  /** @param {keyof typeof doors} door @param {Beside[]} others */
  const rowsOfDoor = (door, others) => rowsOf(door, () => doors[door](streamOf(parts)), others);

  return [
    ...(await rowsOf('codecs alone', () => transcodeParts(parts), [loop, ...(await beside(peers.codecs))])),
    ...(await rowsOfDoor('AgentsToAGUIAdapter', await beside(peers.generators, adapterNote))),
    ...(await rowsOfDoor('toAGUI', await beside(peers.generators))),
    // Alone with the loop: the texts that the others make are collected, and what Node had compiled for its streams with them.
    ...(await rowsOfDoor('bytes', [loop])),
    ...(await rowsOfDoor('bytes', framed)),
  ];
}

/**
 * The doors on `streamText` itself, which takes most of the time then.
 * @param {Options} options
 * @param {Peers} peers
 */
async function ofStreamText(options, peers) {
  const events = 10_000;
  const model = modelOf(events);
  const say = () => streamText({ model, prompt: 'Say it.' }).fullStream;
  const others = peers.generators
    .filter(({ isFloor }) => !isFloor)
    .map((peer) => ({ peerName: peer.name, run: () => peer.run(say(), () => undefined) }));
  /** @param {keyof typeof doors} door */
  const rowsOf = (door) => {
    const name = `${door} on streamText: ${events / 1000}k words`;
    return contest(options, { name, events, run: () => doors[door](say()) }, others);
  };
  return [...(await rowsOf('AgentsToAGUIAdapter')), ...(await rowsOf('toAGUI'))];
}

/**
 * What a round of bytes frees, the C library gives back to the system in the next party's round, and the system makes it anew, page
 * by page, a thousand a round. Not in a process that has ever freed something large, as a server does sooner or later.
 */
function keepFreedMemory() {
  void new ArrayBuffer(2 ** 24);
  globalThis.gc?.();
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'ag-ui: what streamText says → AG-UI events and bytes (CPU time)',
  // A call is told by code that runs fifty times in a round: it takes a while until all of it is compiled.
  warmUpMs: 2000,
  async run(options) {
    // Who writes bytes makes the engine walk through all that is alive, which is mostly the parts and the packages of the peers, and
    // takes several rounds' time: as often as in a process that has less to hold, for everybody.
    setFlagsFromString('--heap-growing-percent=100');
    keepFreedMemory();
    const peers = await loadPeers();
    const [words, mixed, whole] = [
      turnOf(wordsOf(100_000)),
      turnOf([...wordsOf(50_000), ...callsOf(50, 1000, true)]),
      turnOf([...wordsOf(100_000), ...callsOf(50, 1000, false)]),
    ];
    return [
      ...(await ofKind(options, peers, '100k words', words)),
      ...(await ofKind(options, peers, '50k words and 50 calls of 1000 pieces', mixed)),
      ...(await ofKind(options, peers, '100k words and 50 calls in one piece', whole)),
      ...(await ofStreamText(options, peers)),
    ];
  },
};

export default suite;
