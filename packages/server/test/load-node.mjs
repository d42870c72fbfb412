// @ts-check
// node load-node.mjs <database> <words per second> <words> <source>: a server with one agent. `script` is a source that costs next to
// nothing, so that the server is measured; `model` is a language model behind `streamText`. Each delta contains its number and the time
// at which it was due. The program prints its URL, and for every line on standard input the resources used so far.
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { model } from '../dist/agent-kinds.js';
import { serve } from '../dist/serve.js';

const [url = '', ...numbers] = process.argv.slice(2);
const [perSecond = 1, words = 1] = numbers.slice(0, 2).map(Number);
const kind = numbers[2] ?? 'script';
const periodMs = 1000 / perSecond;

/** @typedef {{ send: (delta: string) => void, end: () => void, startedAt: number, sent: number }} DeltaStream */
/** @type {Set<DeltaStream>} */
const streams = new Set();

// One timer for all runs: a timer per run would cost more than anything else here.
setInterval(() => {
  const now = Date.now();
  for (const stream of streams) {
    const { startedAt } = stream;
    while (stream.sent < words && startedAt + stream.sent * periodMs <= now) {
      const dueAt = Math.round(startedAt + stream.sent * periodMs);
      stream.send(`${stream.sent}:${dueAt} `);
      stream.sent += 1;
    }
    if (stream.sent < words) continue;
    streams.delete(stream);
    stream.end();
  }
}, 5);

/**
 * Streams the words, as events of a source or as parts of a model.
 * @template Item
 * @param {(delta: string) => Item} toDelta
 * @param {{ first: Item[], last: Item[] }} frame
 * @returns {ReadableStream<Item>}
 */
function streamDeltas(toDelta, { first, last }) {
  /** @type {DeltaStream} */
  let own;
  return new ReadableStream({
    start(controller) {
      for (const item of first) controller.enqueue(item);
      own = {
        send: (delta) => controller.enqueue(toDelta(delta)),
        end() {
          for (const item of last) controller.enqueue(item);
          controller.close();
        },
        startedAt: Date.now() + Math.random() * periodMs,
        sent: 0,
      };
      streams.add(own);
    },
    cancel() {
      streams.delete(own);
    },
  });
}

/** @type {import('@intertie/core').AgentSource} */
const script = {
  name: 'speaker',
  pauses: 'replay',
  run: () =>
    streamDeltas(
      /** @returns {import('@intertie/core').AgentEvent} */ (delta) => ({ type: 'text-delta', id: 'a', delta }),
      {
        first: [{ type: 'text-start', id: 'a' }],
        last: [
          { type: 'text-end', id: 'a' },
          { type: 'run-end', outcome: 'complete' },
        ],
      },
    ),
};

/** @type {import('@ai-sdk/provider').LanguageModelV3} */
const streamingModel = {
  specificationVersion: 'v3',
  provider: 'load',
  modelId: 'speaker',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('The load test only streams.')),
  doStream: async () => ({
    stream: streamDeltas(
      /** @returns {import('@ai-sdk/provider').LanguageModelV3StreamPart} */ (delta) => ({
        type: 'text-delta',
        id: 'a',
        delta,
      }),
      {
        first: [
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: 'a' },
        ],
        last: [
          { type: 'text-end', id: 'a' },
          {
            type: 'finish',
            finishReason: { unified: 'stop', raw: 'stop' },
            usage: {
              inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: words, text: words, reasoning: 0 },
            },
          },
        ],
      },
    ),
  }),
};

const served = await serve(
  {
    agents: { speaker: kind === 'model' ? model(streamingModel) : script },
    database: { url },
    token: 'the-token-of-the-soak-test',
    limits: {
      requestsPerSecond: 10_000,
      streams: { perClient: 10_000, total: 10_000 },
      runs: Infinity,
      eventLoopDelayMs: Infinity,
    },
  },
  { port: 0 },
);
process.stdout.write(`${served.url}\n`);

let maxRss = 0;
setInterval(() => void (maxRss = Math.max(maxRss, process.memoryUsage.rss())), 200).unref();
createInterface({ input: process.stdin })
  .on('line', () => {
    const { user, system } = process.cpuUsage();
    const { utilization } = performance.eventLoopUtilization();
    const used = { cpuMs: (user + system) / 1000, wallMs: performance.now(), rss: maxRss, utilization };
    process.stdout.write(`${JSON.stringify(used)}\n`);
  })
  // The test that started this process has ended.
  .on('close', () => process.exit(1));
process.once('SIGTERM', () => void served.close().then(() => process.exit(0)));
