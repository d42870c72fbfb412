// @ts-check
// npm run build && node bench/log-places.mjs [seconds]: 300 runs of 20 events a second through the flusher, alternately with the log
// on Postgres and with the log on Redis and the rest on Postgres. Both write to disk before they reply.
import { withDetachedLog } from '@intertie/core';
import { createStore } from '@intertie/postgres';

import { createRedisLog } from '../examples/redis-log/dist/redis-log.js';
import { install } from '../scripts/install.mjs';
import { startRedis } from './end-to-end/redis.mjs';
import { flushLoad } from './postgres/flush-load.mjs';
import { startServer } from './postgres/server.mjs';

install('bench');
const { createClient } = await import('redis');

const seconds = Number(process.argv[2] ?? 8);
const rounds = 3;
const [postgres, redis] = [await startServer(), await startRedis({ isDurable: true })];
const client = await createClient({ url: redis.url }).connect();
const store = await createStore(postgres.url);
const places = { Postgres: store, Redis: withDetachedLog(store, createRedisLog(client)) };

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(0)} %`;

for (let round = 0; round < rounds; round++) {
  for (const [place, on] of Object.entries(places)) {
    /** At the beginning and at the end. @type {Array<{ at: number, postgres: number, redis: number }>} */
    const looks = [];
    const look = () => {
      looks.push({
        at: performance.now() / 1000,
        postgres: postgres.cpuSeconds() ?? 0,
        redis: redis.cpuSeconds() ?? 0,
      });
      return 0;
    };
    const load = await flushLoad(on, { runs: 300, perSecond: 20, seconds, serverCpu: look });
    const [first, last] = looks;
    if (!first || !last) throw new Error('The load was not measured.');
    /** @param {'postgres' | 'redis'} server */
    const share = (server) => percent((last[server] - first[server]) / (last.at - first.at));
    console.log(
      `log on ${place.padEnd(8)}  ${load.events} events, to commit p50 ${load.p50.toFixed(0)} ms, p99 ${load.p99.toFixed(0)} ms; ` +
        `of a core: node ${percent(load.clientCpu)}, Postgres ${share('postgres')}, Redis ${share('redis')}`,
    );
  }
}
await client.close();
await store.close();
await redis.stop();
await postgres.stop();
