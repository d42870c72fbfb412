// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { AgentsToAGUIAdapter, createAGUIEncoder, toAGUI, toAGUIResponse } from '@intertie/ag-ui';
import { createFullStreamDecoder } from '@intertie/ai-sdk';
import { compose, seal } from '@intertie/core';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';
import { measure } from '../measure.mjs';

/** The peers bring hundreds of packages along, and the tests with one of them have them already. */
const folder = 'tests/peers/ag-ui-copilotkit';
const run = { runId: 'run-1', threadId: 'thread-1', messageId: 'message-1', startedAt: 0 };
const input = { ...run, history: [], answers: [], tools: [], context: [] };
const request = { threadId: 'thread-1', runId: 'run-1', messages: [], protocolVersion: '1.0' };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, inputTokenDetails: {}, outputTokenDetails: {} };

/** @typedef {{ type: string, [key: string]: unknown }} Part */

/** What `streamText` says of one turn. @param {Part[]} said @returns {Part[]} */
function turnOf(said) {
  const response = { id: 'r', timestamp: new Date(0), modelId: 'm' };
  return [
    { type: 'start' },
    { type: 'start-step', request: {}, warnings: [] },
    ...said,
    { type: 'finish-step', finishReason: 'stop', rawFinishReason: 'stop', usage, response },
    { type: 'finish', finishReason: 'stop', rawFinishReason: 'stop', totalUsage: usage },
  ];
}

/** @param {number} deltas @returns {Part[]} */
function wordsOf(deltas) {
  const words = Array.from({ length: deltas }, (_, n) => ({ type: 'text-delta', id: '1', text: `w${n % 10} ` }));
  return [{ type: 'text-start', id: '1' }, ...words, { type: 'text-end', id: '1' }];
}

/** Calls whose arguments are streamed, or not. @param {number} calls @param {number} length of what is asked @param {boolean} isStreamed @returns {Part[]} */
function callsOf(calls, length, isStreamed) {
  return Array.from({ length: calls }, (_, n) => {
    const id = `c${n}`;
    const call = { toolCallId: id, toolName: 'look' };
    /** @type {Part[]} */
    const streamed = [
      { type: 'tool-input-start', id, toolName: 'look' },
      { type: 'tool-input-delta', id, delta: '{"q":"' },
      ...Array.from({ length }, () => ({ type: 'tool-input-delta', id, delta: 'x' })),
      { type: 'tool-input-delta', id, delta: '"}' },
      { type: 'tool-input-end', id },
    ];
    return [
      ...(isStreamed ? streamed : []),
      { type: 'tool-call', ...call, input: { q: 'x'.repeat(length) } },
      { type: 'tool-result', ...call, input: {}, output: { found: n } },
    ];
  }).flat();
}

/** @param {Part[]} parts */
async function* streamOf(parts) {
  for (const part of parts) yield part;
}

/** @param {AsyncIterable<unknown>} items */
async function drain(items) {
  let count = 0;
  for await (const _ of items) count++;
  return count;
}

/** The least that a door is: a generator that hands on what it reads. @param {AsyncGenerator<Part>} parts */
function handOn(parts) {
  /** @param {IteratorResult<Part>} result */
  const onPart = ({ done, value }) => ({ done, value });
  return { [Symbol.asyncIterator]: () => ({ next: () => parts.next().then(onPart) }) };
}

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

/**
 * @typedef {{ name: string, run: (parts: Part[], onEvent: (event: object) => void) => Promise<unknown> }} Peer gives each event that it makes of them
 * @typedef {{ codecs: Peer[], generators: Peer[] }} Peers by what they are beside: `codecs` as fast as each of them is, `generators` read as ours are
 * @param {(name: string) => Promise<any>} load
 * @returns {Promise<Peers>}
 */
async function peersFrom(load) {
  process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
  const { convertAISDKStream } = await load('@copilotkit/runtime/v2');
  const { VoltAgentAGUI } = await load('@voltagent/ag-ui');
  // Its converter is its own secret, so the whole agent is run, around one that has its answer already. What it would load of
  // @voltagent/core is a registry that it never asks then: the package that stands for it has none.
  /** @param {Part[]} parts */
  const voltAgent = (parts) =>
    new VoltAgentAGUI({ agent: { streamText: async () => ({ fullStream: streamOf(parts) }) } }).run({
      ...request,
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    });

  /** @type {Peer} */
  const copilotKit = {
    name: "CopilotKit's convertAISDKStream",
    async run(parts, onEvent) {
      for await (const event of convertAISDKStream(streamOf(parts), new AbortController().signal)) onEvent(event);
    },
  };
  /** @type {Peer} */
  const pushed = {
    name: "VoltAgent's VoltAgentAGUI, pushed",
    run: (parts, onEvent) =>
      muted(
        () =>
          new Promise((resolve, reject) => {
            voltAgent(parts).subscribe({ next: onEvent, error: reject, complete: () => resolve(undefined) });
          }),
      ),
  };
  /** @type {Peer} */
  const bridged = {
    name: "VoltAgent's VoltAgentAGUI, iterated over a queue",
    run: (parts, onEvent) =>
      muted(async () => {
        for await (const event of iterateObservable(voltAgent(parts))) onEvent(event);
      }),
  };
  /** @type {Peer} */
  const floor = {
    name: 'a generator that hands the parts on: the floor',
    async run(parts, onEvent) {
      for await (const part of handOn(streamOf(parts))) onEvent(part);
    },
  };
  return { codecs: [copilotKit, pushed], generators: [copilotKit, bridged, pushed, floor] };
}

/** VoltAgent writes a line about most of what it does, and has something to say after its end too. @param {() => Promise<unknown>} work */
async function muted(work) {
  const { log } = console;
  console.log = () => undefined;
  try {
    await work();
  } finally {
    await new Promise((resolve) => setImmediate(resolve));
    console.log = log;
  }
}

/**
 * The least that makes what is pushed a thing to iterate: a queue, and a promise where it is empty.
 * @typedef {{ next: (event: object) => void, error: (error: unknown) => void, complete: () => void }} Observer
 * @param {{ subscribe: (observer: Observer) => unknown }} observable
 * @returns {AsyncIterable<object>}
 */
function iterateObservable(observable) {
  /** @type {Array<IteratorResult<object> | Promise<never>>} */
  const queue = [];
  /** @type {((result: IteratorResult<object> | Promise<never>) => void) | undefined} */
  let waiting;
  /** @param {IteratorResult<object> | Promise<never>} result */
  const give = (result) => {
    if (!waiting) return void queue.push(result);
    const resolve = waiting;
    waiting = undefined;
    resolve(result);
  };
  observable.subscribe({
    next: (value) => give({ done: false, value }),
    // oxlint-disable-next-line promise/no-promise-in-callback -- whoever asks next is told
    error: (error) => give(Promise.reject(error)),
    complete: () => give({ done: true, value: undefined }),
  });
  const next = () => {
    const result = queue.shift();
    return result ? Promise.resolve(result) : new Promise((/** @type {typeof give} */ resolve) => (waiting = resolve));
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/**
 * Who tells less has less to do.
 * @param {Peer} peer
 * @param {Part[]} parts
 */
async function leftOutBy({ run: theirs }, parts) {
  const all = transcodeParts(parts);
  let told = 0;
  await theirs(parts, () => void (told += 1));
  return told < all * 0.9 ? `theirs tells ${told} of the ${all} events` : undefined;
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'ag-ui: what streamText says → AG-UI events and bytes (CPU time)',
  warmUpMs: 1000,
  async run(options) {
    /** What only computes is measured by the processor's time. @param {Parameters<typeof measure>[1]} contest */
    const compare = (contest) => measure(options, { ...contest, clock: 'cpu' });
    install(folder);
    const require = createRequire(join(root, folder, 'package.json'));
    const peers = await peersFrom((name) => import(pathToFileURL(require.resolve(name)).href));
    const rows = [];

    /** @type {Array<[string, Part[]]>} */
    const kinds = [
      ['100k words', turnOf(wordsOf(100_000))],
      ['50k words and 50 calls of 1000 pieces', turnOf([...wordsOf(50_000), ...callsOf(50, 1000, true)])],
      ['100k words and 50 calls in one piece', turnOf([...wordsOf(100_000), ...callsOf(50, 1000, false)])],
    ];
    for (const [name, parts] of kinds) {
      const events = parts.length;
      rows.push(
        await compare({
          name: `codecs alone: ${name}`,
          events,
          peerName: 'a loop that only reads the parts',
          ours: () => transcodeParts(parts),
          peer: () => drain(streamOf(parts)),
        }),
      );
      /** @type {Array<{ door: string, peers: Peer[], note?: string, ours: () => unknown }>} */
      const doors = [
        { door: 'codecs alone', peers: peers.codecs, ours: () => transcodeParts(parts) },
        {
          door: 'AgentsToAGUIAdapter',
          peers: peers.generators,
          note: 'ours says the time and the id on every event',
          ours: () =>
            drain(
              new AgentsToAGUIAdapter({ protocolVersion: '1.0' }).adaptStreamToAGUI({ fullStream: streamOf(parts) }),
            ),
        },
        {
          door: 'toAGUI',
          peers: peers.generators,
          ours: () => drain(toAGUI({ fullStream: streamOf(parts) }, { input: request })),
        },
      ];
      for (const { door, peers: others, ...row } of doors) {
        for (const other of others) {
          const note = [row.note, await leftOutBy(other, parts)].filter(Boolean).join('; ');
          const peer = () => other.run(parts, () => undefined);
          rows.push(await compare({ ...row, note, name: `${door}: ${name}`, events, peerName: other.name, peer }));
        }
      }
      for (const other of peers.codecs) {
        rows.push(
          await compare({
            name: `bytes: ${name}`,
            events,
            peerName: `${other.name}; framed`,
            note: (await leftOutBy(other, parts)) ?? '',
            ours: () =>
              drain(
                /** @type {AsyncIterable<unknown>} */ (
                  toAGUIResponse({ fullStream: streamOf(parts) }, { input: request }).body
                ),
              ),
            peer: () => {
              const encoder = new TextEncoder();
              return other.run(parts, (event) => void encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
            },
          }),
        );
      }
    }
    return rows;
  },
};

export default suite;
