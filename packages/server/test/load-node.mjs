// @ts-check
// node load-node.mjs <database> <words a second> <words>: a server whose agent costs next to nothing, so that what is measured
// is the server's. Each run says its number and the time at which it was due, whether the process was late or not. It prints
// where it listens, and for every line that it reads what it has used so far.
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { serve } from '../dist/serve.js';

const [url = '', ...numbers] = process.argv.slice(2);
const [perSecond = 1, words = 1] = numbers.map(Number);
const periodMs = 1000 / perSecond;

/** @typedef {{ controller: ReadableStreamDefaultController<import('@intertie/core').AgentEvent>, begunAt: number, said: number }} Speaker */
/** @type {Set<Speaker>} */
const speakers = new Set();

// One timer for all of them: as many as there are runs would be the most expensive thing here.
setInterval(() => {
  const now = Date.now();
  for (const speaker of speakers) {
    const { controller, begunAt } = speaker;
    while (speaker.said < words && begunAt + speaker.said * periodMs <= now) {
      const dueAt = Math.round(begunAt + speaker.said * periodMs);
      controller.enqueue({ type: 'text-delta', id: 'a', delta: `${speaker.said}:${dueAt} ` });
      speaker.said += 1;
    }
    if (speaker.said < words) continue;
    speakers.delete(speaker);
    controller.enqueue({ type: 'text-end', id: 'a' });
    controller.enqueue({ type: 'run-end', outcome: 'complete' });
    controller.close();
  }
}, 5);

/** @type {import('@intertie/core').AgentSource} */
const speaker = {
  name: 'speaker',
  pauses: 'replay',
  run() {
    /** @type {Speaker} */
    let own;
    return new ReadableStream({
      start(controller) {
        controller.enqueue({ type: 'text-start', id: 'a' });
        own = { controller, begunAt: Date.now() + Math.random() * periodMs, said: 0 };
        speakers.add(own);
      },
      cancel() {
        speakers.delete(own);
      },
    });
  },
};

const served = await serve(
  {
    agents: { speaker },
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
  // Whoever started it has gone.
  .on('close', () => process.exit(1));
process.once('SIGTERM', () => void served.close().then(() => process.exit(0)));
