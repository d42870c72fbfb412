// @ts-check
import { setFlagsFromString } from 'node:v8';

import { AgentsToAGUIAdapter, createAGUIEncoder, toAGUI, toAGUIResponse } from '@intertie/ag-ui';
import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';
import { streamText } from 'ai';

import { createCallParts, toStream, createStepParts, createTextParts } from '../ag-ui/parts.mjs';
import { loadCopilotKit, request } from '../ag-ui/peers.mjs';
import { compareRounds, measureAlternately, spread, time } from '../measure.mjs';
import { createTextModel } from '../create-text-model.mjs';

/** @import { Part } from '../ag-ui/parts.mjs' */
/** @import { Peer } from '../ag-ui/peers.mjs' */
/** @import { Options, Row } from '../measure.mjs' */

const run = { runId: 'run-1', threadId: 'thread-1', messageId: 'message-1', startedAt: 0 };
const input = { ...run, history: [], answers: [], tools: [], context: [] };

/** Runs the codecs alone, without streams. @param {Part[]} parts */
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
 * Measures ours and the peer alternately, by CPU time: these rows only compute.
 * @param {Options} options
 * @param {{ name: string, events: number, run: () => unknown }} ours
 * @param {{ peerName: string, run: () => unknown, note?: string }} peer
 * @returns {Promise<Row>}
 */
async function compare(options, { name, events, run: work }, { peerName, run: theirs, note }) {
  const parties = [work, theirs].map((each) => () => time(each, 'cpu'));
  const [ours = [], others = []] = await measureAlternately(options, name, parties);
  return { name, events, ours: spread(ours), peerName, ...(note && { note }), ...compareRounds(ours, others) };
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
  const convert = (onEvent = () => undefined) => peer.run(toStream(parts), onEvent);
  const converter = { peerName: peer.name, run: () => convert() };
  const framed = { peerName: `${peer.name}; framed`, run: () => convert(frame) };
  /** @param {keyof typeof entryPoints} entryPoint */
  const ours = (entryPoint) => ({
    name: `${entryPoint}: ${kind}`,
    events,
    run: () => entryPoints[entryPoint](toStream(parts)),
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
  const model = createTextModel(events);
  const stream = () => streamText({ model, prompt: 'Say it.' }).fullStream;
  const converter = { peerName: peer.name, run: () => peer.run(stream(), () => undefined) };
  /** @param {keyof typeof entryPoints} entryPoint */
  const measureRow = (entryPoint) => {
    const name = `${entryPoint} on streamText: ${events / 1000}k words`;
    return compare(options, { name, events, run: () => entryPoints[entryPoint](stream()) }, converter);
  };
  return [await measureRow('AgentsToAGUIAdapter'), await measureRow('toAGUI')];
}

/**
 * Frees a large allocation once, as every long-running server does. Before that, the C library returns the memory of each round to
 * the system in the next party's round, and the system allocates it again, a thousand pages a round.
 */
function keepFreedMemory() {
  void new ArrayBuffer(2 ** 24);
  globalThis.gc?.();
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'ag-ui: what streamText says → AG-UI events and bytes (CPU time)',
  // Encoding of calls runs only fifty times in a round, so it takes several rounds until all of it is compiled.
  warmUpMs: 2000,
  async run(options) {
    // Writing bytes makes the garbage collector scan the live heap, mostly the parts and the peer's packages, which takes the time of
    // several rounds. This makes it run as often as in a process with a smaller heap, for all parties.
    setFlagsFromString('--heap-growing-percent=100');
    keepFreedMemory();
    const peer = await loadCopilotKit();
    const [words, mixed, whole] = [
      createStepParts(createTextParts(100_000)),
      createStepParts([...createTextParts(50_000), ...createCallParts(50, 1000, true)]),
      createStepParts([...createTextParts(100_000), ...createCallParts(50, 1000, false)]),
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
