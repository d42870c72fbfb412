// @ts-check
// npm run build && node bench/log-places.mjs [seconds]: 300 runs of 20 events a second through the flusher, in turn with the log on
// Postgres, on three NATS servers, and on Redis; the rest is on Postgres. Prints the medians of three rounds as a table.
// npm run build && node bench/log-places.mjs capacity: the highest rate of a NATS cluster, and the size of its parts.
// NATS_SERVER selects a nats-server other than the one from PyPI.
import { readFileSync } from 'node:fs';

import { withDetachedLog } from '@intertie/core';
import { createJetStreamLog, createNatsHints } from '@intertie/nats';
import { createStore } from '@intertie/postgres';
import pg from 'pg';

import { createRedisLog } from '../examples/redis-log/dist/redis-log.js';
import { natsVersion, startNats } from '../packages/nats/test/nats-servers.mjs';
import { install } from '../scripts/install.mjs';
import { startRedis } from './end-to-end/redis.mjs';
import { flushLoad } from './postgres/flush-load.mjs';
import { startServer } from './postgres/server.mjs';

/**
 * @import { Store } from '@intertie/core'
 * @import { FinishRequest, LogBatch, RunKey } from '@intertie/core/store'
 * @import { NatsConnection } from '@nats-io/transport-node'
 * @typedef {{ name: string, store: Store, pids: number[], bytes: () => Promise<number> }} Place
 * @typedef {{ p50: number, p99: number, node: number, servers: number, bytes: number }} Figures
 */

const rounds = 3;
const streamName = 'intertie-runs';
const median = (/** @type {number[]} */ values) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);
const cpuOf = (/** @type {number[]} */ pids) => sum(pids.map(readAllThreads));

if (process.argv[2] === 'capacity') await measureCapacity();
else await comparePlaces(Number(process.argv[2] ?? 8));

/** @param {number} seconds */
async function comparePlaces(seconds) {
  install('bench');
  const { createClient } = await import('redis');
  const postgres = await startServer();
  const redis = await startRedis({ isDurable: true });
  const clusters = [
    { name: `NATS ${natsVersion}, 3 servers`, nats: await startNats(3) },
    { name: 'the same with fsync', nats: await startNats(3, { syncAlways: true }) },
  ];
  const client = await createClient({ url: redis.url }).connect();
  const database = new pg.Client(postgres.url);
  await database.connect();
  const store = await createStore(postgres.url);
  const connections = await Promise.all(clusters.map(({ nats }) => nats.connect()));

  /** @type {Place[]} */
  const places = [
    {
      name: 'Postgres',
      store,
      pids: [],
      bytes: async () => Number((await database.query(`select pg_current_wal_lsn() - '0/0' as n`)).rows[0].n),
    },
    ...clusters.map(({ name, nats }, index) => {
      const connection = connections[index];
      const hints = createNatsHints(connection);
      const joined = withDetachedLog(store, createJetStreamLog(connection), { hints });
      return { name, store: joined, pids: nats.pids, bytes: async () => 3 * (await readState(connection)).bytes };
    }),
    {
      name: 'Redis (example), 1 server',
      store: withDetachedLog(store, createRedisLog(client)),
      pids: [redis.pid],
      bytes: async () => Number(/aof_current_size:(\d+)/.exec(await client.info('persistence'))?.[1]),
    },
  ];
  /** @type {Map<string, Figures[]>} */
  const all = new Map(places.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const { name, store: on, pids, bytes } of places) {
      const bytesBefore = await bytes();
      /** CPU time of the servers and the time, before the first and after the last event. @type {number[][]} */
      const looks = [];
      const look = () => {
        looks.push([cpuOf(pids) + (postgres.cpuSeconds() ?? 0), performance.now() / 1000]);
        return 0;
      };
      const load = await flushLoad(on, { runs: 300, perSecond: 20, seconds, serverCpu: look });
      const [servers = 0, elapsed = 0] = [0, 1].map((each) => (looks[1]?.[each] ?? 0) - (looks[0]?.[each] ?? 0));
      all.get(name)?.push({
        p50: load.p50,
        p99: load.p99,
        node: (load.clientCpu * elapsed * 1e6) / load.events,
        servers: (servers * 1e6) / load.events,
        bytes: ((await bytes()) - bytesBefore) / load.events,
      });
    }
  }
  console.log('| log on | event to commit, p50 / p99 | CPU per event, node / servers | bytes stored per event |');
  console.log('| --- | --- | --- | --- |');
  for (const [name, figures] of all) {
    const at = (/** @type {keyof Figures} */ key) => median(figures.map((each) => each[key])).toFixed(0);
    console.log(`| ${name} | ${at('p50')} / ${at('p99')} ms | ${at('node')} / ${at('servers')} µs | ${at('bytes')} |`);
  }
  for (const connection of connections) await connection.close();
  await client.close();
  await database.end();
  await store.close();
  for (const { nats } of clusters) await nats.stop();
  await redis.stop();
  await postgres.stop();
}

/** Writes as fast as a cluster accepts messages, then counts the cost of a message, an idle run and a dropped run. */
async function measureCapacity() {
  const nats = await startNats(3);
  const connections = await Promise.all([0, 1, 2].map(() => nats.connect()));
  const logs = connections.map((connection) => createJetStreamLog(connection, { timeoutMs: 60_000 }));
  const [first] = connections;
  if (!first) throw new Error('There is no connection.');
  const event = { type: /** @type {const} */ ('text-delta'), id: 'p', delta: 'lorem ' };
  const key = (/** @type {string} */ name) => /** @type {RunKey} */ (name);
  await logs[0]?.open();
  const memory = () => sum(nats.pids.map(readRss)) / nats.pids.length;

  const [cpu, own, startedAt, seconds] = [cpuOf(nats.pids), process.cpuUsage(), performance.now(), 10];
  let messages = 0;
  const write = async (/** @type {number} */ index) => {
    for (let seq = 1; performance.now() - startedAt < seconds * 1000; seq++) {
      /** @type {LogBatch} */
      const batch = { run: key(`busy_${index}`), epoch: 1, seq, events: [event] };
      await logs[index % 3]?.append([batch]);
      messages += 1;
    }
  };
  await Promise.all(Array.from({ length: 500 }, (_, index) => write(index)));
  const elapsed = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(own);
  const { bytes } = await readState(first);
  console.log(`nats-server ${natsVersion}, three servers and the writer on one machine`);
  console.log(`messages per second          ${(messages / elapsed).toFixed(0)}`);
  console.log(`CPU per message, servers     ${(((cpuOf(nats.pids) - cpu) * 1e6) / messages / 3).toFixed(0)} µs each`);
  console.log(`CPU per message, writer      ${((used.user + used.system) / messages).toFixed(0)} µs`);
  console.log(`bytes per message, replica   ${(bytes / messages).toFixed(0)}`);
  const merged = Array.from({ length: 500 }, (_, n) => key(`merged_${n}`));
  const events = [{ ...event, delta: event.delta.repeat(5) }];
  await logs[0]?.append(merged.map((run) => ({ run, epoch: 1, seq: 1, events })));
  console.log(`bytes per message of 5 words ${(((await readState(first)).bytes - bytes) / 500).toFixed(0)}`);

  const [idle, before] = [50_000, memory()];
  for (let n = 0; n < idle; n += 500) {
    const batches = Array.from({ length: 500 }, (_, each) => key(`idle_${n + each}`));
    await logs[0]?.append(batches.map((run) => ({ run, epoch: 1, seq: 1, events: [event] })));
  }
  console.log(`memory per idle run, server  ${((memory() - before) / idle).toFixed(0)} bytes`);

  const droppedAt = performance.now();
  await logs[0]?.drop(Array.from({ length: 400 }, (_, n) => key(`busy_${n + 50}`)));
  console.log(`dropping a run               ${((performance.now() - droppedAt) / 400).toFixed(2)} ms`);
  const erasedAt = performance.now();
  await logs[0]?.drop(
    Array.from({ length: 20 }, (_, n) => key(`busy_${n}`)),
    { erase: true },
  );
  console.log(`erasing a run                ${((performance.now() - erasedAt) / 20).toFixed(1)} ms`);
  for (const connection of connections) await connection.close();
  await nats.stop();
  await measureRegistry();
}

/** Measures the cost of a run on Postgres if its log is elsewhere: one start and one end. */
async function measureRegistry() {
  const postgres = await startServer();
  const { registry, scope, close } = await createStore(postgres.url).then((store) => ({
    registry: store.registry,
    scope: store.scope,
    close: () => store.close(),
  }));
  await registry.heartbeat('bench');
  const runs = 1000;
  const execute = async (/** @type {number} */ n) => {
    const ids = { threadId: `t${n}`, runId: `r${n}`, messageId: `m${n}`, agent: 'bench', process: 'bench' };
    const started = await registry.start(scope, { ...ids, busy: 'reject', pending: 'reject' });
    if (started.type !== 'started') throw new Error('The run did not start.');
    const content = { format: /** @type {const} */ (2), parts: [{ type: 'text', text: 'lorem '.repeat(1200) }] };
    const outcome = { outcome: /** @type {const} */ ('complete') };
    const end = { nextSeq: 2, events: [], outcome, content, detachedLog: true };
    await registry.finish(started.run.key, started.epoch, /** @type {FinishRequest} */ (end));
  };
  await execute(-1);
  const [cpu, startedAt] = [postgres.cpuSeconds() ?? 0, performance.now()];
  for (let n = 0; n < runs; n += 8) await Promise.all(Array.from({ length: 8 }, (_, each) => execute(n + each)));
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`runs per second, Postgres    ${(runs / seconds).toFixed(0)}`);
  console.log(`CPU per run, Postgres        ${((((postgres.cpuSeconds() ?? 0) - cpu) * 1e6) / runs).toFixed(0)} µs`);
  await close();
  await postgres.stop();
}

/**
 * @param {NatsConnection} connection
 * @returns {Promise<{ bytes: number, messages: number }>}
 */
async function readState(connection) {
  const reply = await connection.request(`$JS.API.STREAM.INFO.${streamName}`, '');
  return reply.json().state ?? { bytes: 0, messages: 0 };
}

/**
 * Returns the resident memory of a process in bytes.
 * @param {number} pid
 */
function readRss(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

/**
 * Returns the CPU time of all threads of a process in seconds.
 * @param {number} pid
 */
function readAllThreads(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program name in parentheses, which may contain any character. The unit is 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
