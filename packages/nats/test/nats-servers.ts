import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect, type NatsConnection } from '@nats-io/transport-node';

import { freePort } from '../../../tests/peers/free-port.ts';

/** Program to test with. NATS_SERVER selects another than the one in the path. */
const program = process.env['NATS_SERVER'] ?? 'nats-server';

/** Version of nats-server, undefined if it is not installed. */
export const natsVersion: string | undefined = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.match(
  /v(\d[\w.-]*)/,
)?.[1];

/** One server, or a cluster, on loopback. */
export interface NatsServers {
  readonly urls: string[];
  connect(): Promise<NatsConnection>;
  /** Index of the server that leads the stream. */
  findLeader(stream: string): Promise<number>;
  /** Kills a server with SIGKILL. */
  kill(index: number): Promise<void>;
  /** Starts a killed server again on its data. */
  start(index: number): Promise<void>;
  /** Stops a server with SIGSTOP: its connections stay open and nothing answers. */
  freeze(index: number): void;
  /** Continues a frozen server. */
  thaw(index: number): void;
  /** Waits until JetStream answers and the stream, if one is named, has a leader and current replicas. */
  waitUntilReady(stream?: string): Promise<void>;
  /** CPU time of all servers in seconds. */
  readonly pids: number[];
  stop(): Promise<void>;
}

type StreamInfo = {
  cluster?: { leader?: string; replicas?: Array<{ current?: boolean; offline?: boolean }> };
  error?: unknown;
};

/** Starts `count` servers with JetStream on files. */
export async function startNats(count = 1): Promise<NatsServers> {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-nats-'));
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const routes = await Promise.all(Array.from({ length: count }, freePort));
  const urls = ports.map((port) => `nats://127.0.0.1:${port}`);
  const servers: ChildProcess[] = [];
  const options = { timeout: 2_000, pingInterval: 1_000, maxPingOut: 2, maxReconnectAttempts: -1, reconnectTimeWait: 100 };
  const open = (): Promise<NatsConnection> => connect({ servers: urls, ...options, noAsyncTraces: true });

  const start = async (index: number): Promise<void> => {
    const file = join(folder, `${index}.conf`);
    mkdirSync(join(folder, String(index)), { recursive: true });
    const cluster = `cluster { name: test, listen: "127.0.0.1:${routes[index]}", routes: [${routes
      .map((port) => `"nats://127.0.0.1:${port}"`)
      .join(', ')}] }`;
    writeFileSync(
      file,
      `server_name: n${index}\nlisten: "127.0.0.1:${ports[index]}"\n` +
        `jetstream { store_dir: "${join(folder, String(index))}", max_file_store: 20GB, max_memory_store: 1GB }\n` +
        (count > 1 ? cluster : ''),
    );
    const log = join(folder, `${index}.log`);
    const server = spawn(program, ['-c', file, '-l', log], { stdio: 'ignore' });
    servers[index] = server;
  };
  const info = async (connection: NatsConnection, stream: string): Promise<StreamInfo> =>
    (await connection.request(`$JS.API.STREAM.INFO.${stream}`, '', { timeout: 1_000 })).json<StreamInfo>();

  /** Repeats a check on a new connection until it returns a value. */
  const poll = async <Value>(what: string, check: (connection: NatsConnection) => Promise<Value | undefined>) => {
    for (let tries = 0; tries < 300; tries += 1) {
      let connection: NatsConnection | undefined;
      try {
        connection = await open();
        const value = await check(connection);
        if (value !== undefined) return value;
      } catch {
        // Not up yet.
      } finally {
        await connection?.close();
      }
      await sleep(100);
    }
    throw new Error(`nats-server: ${what} did not happen.`);
  };
  const waitUntilReady = async (stream?: string): Promise<void> => {
    await poll('a ready JetStream', async (connection) => {
      if (stream === undefined) {
        const { error } = (await connection.request('$JS.API.INFO', '', { timeout: 1_000 })).json<{ error?: unknown }>();
        return error ? undefined : true;
      }
      const { cluster, error } = await info(connection, stream);
      if (error || (count > 1 && !cluster?.leader)) return undefined;
      return cluster?.replicas?.every(({ current, offline }) => current && !offline) === false ? undefined : true;
    });
  };
  const end = async (index: number, signal: NodeJS.Signals): Promise<void> => {
    const server = servers[index]!;
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGCONT');
    server.kill(signal);
    await gone;
  };

  for (const index of ports.keys()) await start(index);
  await waitUntilReady();
  return {
    urls,
    connect: open,
    findLeader: (stream) =>
      poll(`a leader of ${stream}`, async (connection) => {
        const { cluster } = await info(connection, stream);
        return count === 1 ? 0 : cluster?.leader === undefined ? undefined : Number(cluster.leader.slice(1));
      }),
    kill: (index) => end(index, 'SIGKILL'),
    start,
    freeze: (index) => void servers[index]!.kill('SIGSTOP'),
    thaw: (index) => void servers[index]!.kill('SIGCONT'),
    waitUntilReady,
    get pids() {
      return servers.map(({ pid }) => pid!);
    },
    async stop() {
      await Promise.all(servers.map((_, index) => end(index, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
