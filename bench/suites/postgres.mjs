// @ts-check
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { createStore } from '@intertie/postgres';
import pg from 'pg';

import { measure } from '../measure.mjs';
import { fillTables, planThreads } from '../postgres/fill-tables.mjs';
import { flushLoad } from '../postgres/flush-load.mjs';
import { compressing, saving } from '../postgres/saving.mjs';
import { freePort, startServer } from '../postgres/server.mjs';
import { openBoth, peerName } from '../postgres/stores.mjs';

/** @import { Options, Row } from '../measure.mjs' */
/** @import { Server } from '../postgres/server.mjs' */

/**
 * Measures through a connection with a delay of 1 ms each way, as between two machines of a data centre.
 * @param {Server} server
 */
async function startProxy(server) {
  const port = await freePort();
  const program = fileURLToPath(new URL('../postgres/delay-proxy.mjs', import.meta.url));
  const proxy = fork(program, [String(port), String(server.port), '1']);
  await new Promise((resolve) => proxy.once('message', resolve));
  return { url: server.url.replace(`:${server.port}`, `:${port}`), stop: () => proxy.kill() };
}

/**
 * @param {Options} options
 * @param {Server} server
 * @param {number} total
 */
async function listing(options, server, total) {
  const { ours, theirs, close } = await openBoth(server.url);
  const client = new pg.Client(server.url);
  await client.connect();
  options.progress(`filling both tables with ${total} messages`);
  const threads = planThreads(total);
  await fillTables(client, threads);
  await client.end();
  /** @type {Row[]} */
  const rows = [];
  const times = 20;
  for (const key of ['thread_1k', 'thread_10k', 'thread_100k']) {
    const size = threads.find((thread) => thread.key === key)?.messages;
    for (const includeTotal of [true, false]) {
      rows.push(
        await measure(options, {
          name: `last 50 of ${size} (×${times}), ${total} in the table`,
          events: 50 * times,
          peerName: `${peerName}, ${includeTotal ? 'as it comes' : 'includeTotal: false'}`,
          async ours() {
            for (let time = 0; time < times; time++) await ours.listMessages({ threadId: key, limit: 50 });
          },
          async peer() {
            const orderBy = { field: /** @type {const} */ ('createdAt'), direction: /** @type {const} */ ('DESC') };
            for (let time = 0; time < times; time++) {
              await theirs.listMessages({ threadId: key, perPage: 50, page: 0, orderBy, includeTotal });
            }
          },
        }),
      );
    }
  }
  const size = threads.find((thread) => thread.key === 'thread_10k')?.messages ?? 0;
  const middle = size / 2;
  rows.push(
    await measure(options, {
      name: `50 in the middle of ${size} (×${times}), ${total} in the table`,
      events: 50 * times,
      peerName: `${peerName}, includeTotal: false`,
      async ours() {
        const cursor = { before: `m${middle + 1}` };
        for (let time = 0; time < times; time++) await ours.listMessages({ threadId: 'thread_10k', limit: 50, cursor });
      },
      async peer() {
        const orderBy = { field: /** @type {const} */ ('createdAt'), direction: /** @type {const} */ ('DESC') };
        const page = middle / 50;
        for (let time = 0; time < times; time++) {
          await theirs.listMessages({ threadId: 'thread_10k', perPage: 50, page, orderBy, includeTotal: false });
        }
      },
    }),
  );
  rows.push(
    await measure(
      { ...options, repeats: Math.min(options.repeats, 2) },
      {
        name: `all of ${size}`,
        events: size,
        peerName,
        ours: () => ours.listMessages({ threadId: 'thread_10k' }),
        peer: () => theirs.listMessages({ threadId: 'thread_10k', perPage: false }),
      },
    ),
  );
  await close();
  return rows;
}

/**
 * @param {Options} options
 * @param {Server} server
 * @returns {Promise<Row>}
 */
async function flushing(options, server) {
  const [runs, perSecond, seconds] = [300, 20, options.repeats > 1 ? 8 : 2];
  const store = await createStore(server.url);
  options.progress(`${runs} runs × ${perSecond} events a second, for ${seconds} s`);
  const load = { runs, perSecond, seconds, serverCpu: server.cpuSeconds };
  const { p50, p99, low, ...cost } = await flushLoad(store, load);
  await store.close();
  const percent = (/** @type {number | undefined} */ share) =>
    share === undefined ? '?' : `${(share * 100).toFixed(0)} %`;
  return {
    name: `event to commit, ${runs} runs × ${perSecond} events a second (median, fastest to p99)`,
    // This row is about latency, not about throughput.
    events: 0,
    ours: { median: p50, low, high: p99 },
    note: `${cost.statementsPerSecond.toFixed(0)} statements a second; of a core: Node ${percent(cost.clientCpu)}, Postgres ${percent(cost.serverCpu)}`,
  };
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'postgres: saving, reading and the log of runs, on a server of its own with everything on the disk at commit',
  async run(options) {
    const server = await startServer();
    const proxy = await startProxy(server);
    try {
      return [
        ...(await saving(options, server, server.url, 'loopback')),
        ...(await saving(options, server, proxy.url, '1 ms each way')),
        await compressing(options, server),
        ...(await listing(options, server, options.repeats > 1 ? 1_000_000 : 100_000)),
        await flushing(options, server),
      ];
    } finally {
      proxy.stop();
      await server.stop();
    }
  },
};
export default suite;
