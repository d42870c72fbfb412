// @ts-check
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

/** The peers bring hundreds of packages along, and the tests with one of them have them already. */
const folder = 'tests/peers/ag-ui-copilotkit';
/** What is asked of each, and of us. */
export const request = { threadId: 'thread-1', runId: 'run-1', messages: [], protocolVersion: '1.0' };

/**
 * @typedef {{ name: string, isFloor?: boolean, run: (parts: AsyncIterable<unknown>, onEvent: (event: object) => void) => Promise<unknown> }} Peer gives each event that it makes of them
 * @typedef {{ codecs: Peer[], generators: Peer[] }} Peers by what they are beside: `codecs` as fast as each of them is, `generators` read as ours are
 * @returns {Promise<Peers>}
 */
export async function loadPeers() {
  install(folder);
  const require = createRequire(join(root, folder, 'package.json'));
  /** @param {string} name */
  const load = (name) => import(pathToFileURL(require.resolve(name)).href);
  process.env.COPILOTKIT_TELEMETRY_DISABLED = 'true';
  const { convertAISDKStream } = await load('@copilotkit/runtime/v2');
  const { VoltAgentAGUI } = await load('@voltagent/ag-ui');
  // Its converter is its own secret, so the whole agent is run, around one that has its answer already. What it would load of
  // @voltagent/core is a registry that it never asks then: the package that stands for it has none.
  /** @param {AsyncIterable<unknown>} parts */
  const voltAgent = (parts) =>
    new VoltAgentAGUI({ agent: { streamText: async () => ({ fullStream: parts }) } }).run({
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
      for await (const event of convertAISDKStream(parts, new AbortController().signal)) onEvent(event);
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
    isFloor: true,
    async run(parts, onEvent) {
      for await (const part of handOn(parts)) onEvent(part);
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

/** The least that a door is: a generator that hands on what it reads. @param {AsyncIterable<unknown>} parts */
function handOn(parts) {
  const read = parts[Symbol.asyncIterator]();
  /** @param {IteratorResult<unknown>} result */
  const onPart = ({ done, value }) => ({ done, value });
  return { [Symbol.asyncIterator]: () => ({ next: () => read.next().then(onPart) }) };
}
