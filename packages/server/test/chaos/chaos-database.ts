import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { freePort } from '../../../../tests/peers/free-port.ts';

const home = '/usr/lib/postgresql';

/** A separate Postgres server on a small file system, with methods that make it fail. */
export interface ChaosDatabase {
  readonly url: string;
  /** Stops it as an administrator does (`fast`), or as a crash does (`immediate`). */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Starts it, if it is not running. */
  start(): Promise<void>;
  /** Stops all its processes with SIGSTOP for a while: connections stay open and nothing answers. */
  freeze(ms: number): Promise<void>;
  /** Ends every connection of the cluster with `pg_terminate_backend`. */
  terminateBackends(): Promise<void>;
  /** Fills the file system, waits, and frees it. The server may stop because of it. */
  fillDisk(ms: number): Promise<void>;
  query<Row extends object>(text: string): Promise<Row[]>;
  remove(): Promise<void>;
}

/** Starts the installed Postgres on loopback. Needs root: it mounts a tmpfs, and Postgres runs as `postgres`. */
export async function startChaosDatabase(): Promise<ChaosDatabase> {
  if (userInfo().uid !== 0) throw new Error('The chaos test needs root: it mounts a small file system to fill it.');
  const version = existsSync(home) ? readdirSync(home).at(-1) : undefined;
  if (version === undefined)
    throw new Error('Postgres is not installed in /usr/lib/postgresql. Run: apt-get install postgresql');
  const bin = join(home, version, 'bin');
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']));
  const owner = { uid: id('-u'), gid: id('-g') };
  const folder = mkdtempSync(join(tmpdir(), 'intertie-chaos-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=768m', 'tmpfs', folder]);
  chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const ballast = join(folder, 'ballast');
  const flags = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...flags], { ...owner, cwd: folder, stdio: 'ignore' });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  const isRunning = (): boolean => server !== undefined && server.exitCode === null && server.signalCode === null;
  const query = async <Row extends object>(text: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const start = async (): Promise<void> => {
    if (!isRunning()) {
      const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '120' };
      const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      const how = { ...owner, cwd: folder, stdio: 'ignore' as const };
      server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...options], how);
    }
    for (let tries = 0; ; tries += 1) {
      const up = await query('select 1').then(
        () => true,
        () => false,
      );
      if (up) return;
      if (tries > 300) throw new Error('Postgres did not come back within 30 seconds.');
      if (!isRunning()) return start();
      await sleep(100);
    }
  };
  const processes = (): number[] => {
    const parent = server!.pid!;
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(parent)], { encoding: 'utf8' });
    return [parent, ...children.split('\n').flatMap((line) => (line.trim() === '' ? [] : [Number(line)]))];
  };
  const signal = (name: 'SIGSTOP' | 'SIGCONT', pids: readonly number[]): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // The process has ended meanwhile.
      }
    }
  };

  await start();
  return {
    url,
    start,
    query,
    async stop(mode) {
      if (!isRunning()) return;
      const gone = once(server!, 'exit');
      server!.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
      await gone;
    },
    async freeze(ms) {
      const pids = processes();
      signal('SIGSTOP', pids);
      await sleep(ms);
      signal('SIGCONT', pids);
    },
    async terminateBackends() {
      await query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'intertie%'");
    },
    async fillDisk(ms) {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(ballast, Buffer.alloc(bavail * bsize));
      } catch {
        // ENOSPC: the server was faster. The disk is full all the same.
      }
      await sleep(ms);
      rmSync(ballast, { force: true });
      await start();
    },
    async remove() {
      if (isRunning()) {
        const gone = once(server!, 'exit');
        server!.kill('SIGQUIT');
        await gone;
      }
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts PgBouncer in transaction mode in front of a database. Returns its URL. */
export async function startPgBouncer(target: string): Promise<{ url: string; stop(): void }> {
  const { hostname, port: databasePort } = new URL(target);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'intertie-pgbouncer-'));
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: 20,
    max_client_conn: 200,
    server_login_retry: 1,
    ignore_startup_parameters: 'extra_float_digits',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `postgres = host=${hostname} port=${databasePort} dbname=postgres user=postgres`;
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n${databases}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 });
  execFileSync('chmod', ['755', folder]);
  const child = spawn('pgbouncer', ['-q', '-u', 'postgres', file], { stdio: 'ignore' });
  await Promise.race([
    once(child, 'error').then(([error]) => Promise.reject(error as Error)),
    once(child, 'exit').then(() =>
      Promise.reject(new Error('pgbouncer did not start. Run: apt-get install pgbouncer')),
    ),
    sleep(1000),
  ]);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop() {
      child.removeAllListeners();
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
