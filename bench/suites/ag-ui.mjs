// @ts-check
import { setFlagsFromString } from 'node:v8';

import { AgentsToAGUIAdapter, createAGUIEncoder, toAGUI, toAGUIResponse } from '@intertie/ag-ui';
import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';
import { streamText } from 'ai';

import { callsOf, streamOf, turnOf, wordsOf } from '../ag-ui/parts.mjs';
import { loadCopilotKit, request } from '../ag-ui/peers.mjs';
import { besides, inTurns, spread, time } from '../measure.mjs';
import { modelOf } from '../model-of.mjs';

/** @import { Part } from '../ag-ui/parts.mjs' */
/** @import { Peer } from '../ag-ui/peers.mjs' */
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

/** Reads a stream of parts through each entry point. */
const entryPoints = {
  AgentsToAGUIAdapter: (/** @type {AsyncIterable<unknown>} */ fullStream) =>
    drain(new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI({ fullStream })),
  toAGUI: (/** @type {AsyncIterable<unknown>} */ fullStream) => drain(toAGUI({ fullStream }, { input: request })),
  bytes: (/** @type {AsyncIterable<unknown>} */ fullStream) =>
    drain(/** @type {AsyncIterable<unknown>} */ (toAGUIResponse({ fullStream }, { input: request }).body)),
};
const adapterNote = 'ours says the time and the id on every event';

/**
 * Measures ours and the peer in turns, by CPU time: everything here only computes.
 * @param {Options} options
 * @param {{ name: string, events: number, run: () => unknown }} ours
 * @param {{ peerName: string, run: () => unknown, note?: string }} peer
 * @returns {Promise<Row>}
 */
async function compare(options, { name, events, run: work }, { peerName, run: theirs, note }) {
  const parties = [work, theirs].map((each) => () => time(each, 'cpu'));
  const [ours = [], others = []] = await inTurns(options, name, parties);
  return { name, events, ours: spread(ours), peerName, ...(note && { note }), ...besides(ours, others) };
}

/**
 * Measures the codecs, the entry points and the bytes on one list of parts.
 * @param {Options} options
 * @param {Peer} peer
 * @param {string} kind
 * @param {Part[]} parts
 */
async function compareOnList(options, peer, kind, parts) {
  const events = parts.length;
  const encoder = new TextEncoder();
  /** @param {object} event */
  const frame = (event) => void encoder.encode(`data: ${JSON.stringify(event)}\n\n`);
  /** @param {(event: object) => void} [onEvent] */
  const convert = (onEvent = () => undefined) => peer.run(streamOf(parts), onEvent);
  const converter = { peerName: peer.name, run: () => convert() };
  const framed = { peerName: `${peer.name}; framed`, run: () => convert(frame) };
  /** @param {keyof typeof entryPoints} entryPoint */
  const ours = (entryPoint) => ({
    name: `${entryPoint}: ${kind}`,
    events,
    run: () => entryPoints[entryPoint](streamOf(parts)),
  });

  return [
    await compare(options, { name: `codecs alone: ${kind}`, events, run: () => transcodeParts(parts) }, converter),
    await compare(options, ours('AgentsToAGUIAdapter'), { ...converter, note: adapterNote }),
    await compare(options, ours('toAGUI'), converter),
    await compare(options, ours('bytes'), framed),
  ];
}

/**
 * Measures the entry points on `streamText`, which takes most of the time itself.
 * @param {Options} options
 * @param {Peer} peer
 */
async function compareOnStreamText(options, peer) {
  const events = 10_000;
  const model = modelOf(events);
  const say = () => streamText({ model, prompt: 'Say it.' }).fullStream;
  const converter = { peerName: peer.name, run: () => peer.run(say(), () => undefined) };
  /** @param {keyof typeof entryPoints} entryPoint */
  const rowOf = (entryPoint) => {
    const name = `${entryPoint} on streamText: ${events / 1000}k words`;
    return compare(options, { name, events, run: () => entryPoints[entryPoint](say()) }, converter);
  };
  return [await rowOf('AgentsToAGUIAdapter'), await rowOf('toAGUI')];
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
    // Who writes bytes makes the engine walk through all that is alive, which is mostly the parts and the packages of the peer, and
    // takes several rounds' time: as often as in a process that has less to hold, for everybody.
    setFlagsFromString('--heap-growing-percent=100');
    keepFreedMemory();
    const peer = await loadCopilotKit();
    const [words, mixed, whole] = [
      turnOf(wordsOf(100_000)),
      turnOf([...wordsOf(50_000), ...callsOf(50, 1000, true)]),
      turnOf([...wordsOf(100_000), ...callsOf(50, 1000, false)]),
    ];
    return [
      ...(await compareOnList(options, peer, '100k words', words)),
      ...(await compareOnList(options, peer, '50k words and 50 calls of 1000 pieces', mixed)),
      ...(await compareOnList(options, peer, '100k words and 50 calls in one piece', whole)),
      ...(await compareOnStreamText(options, peer)),
    ];
  },
};

export default suite;
