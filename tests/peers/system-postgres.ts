import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

import { freePort } from './free-port.ts';

const home = '/usr/lib/postgresql';

/** Postgres versions installed in the location of Debian and Ubuntu. */
export const installedVersions: string[] = existsSync(home)
  ? readdirSync(home).filter((version) => existsSync(join(home, version, 'bin/postgres')))
  : [];

export type Server = { url: string; stop(): Promise<void> };

/** Starts an installed Postgres on loopback, with an empty data folder that is deleted when it stops. */
export async function startPostgres(version: string): Promise<Server> {
  const bin = join(home, version, 'bin');
  const folder = mkdtempSync(join(tmpdir(), `intertie-postgres-${version}-`));
  const owner = notRoot();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...options], { ...owner, cwd: folder, stdio: 'ignore' });
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], { ...owner, cwd: folder });
  await ready(server);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      server.kill('SIGINT');
      await once(server, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Postgres refuses to run as root. */
function notRoot(): { uid: number; gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

async function ready(server: ChildProcess): Promise<void> {
  let output = '';
  for await (const chunk of server.stderr!) {
    output += String(chunk);
    if (output.includes('ready to accept connections')) {
      // Drains the output, so that it does not fill the pipe.
      server.stderr!.on('data', () => {});
      return;
    }
  }
  throw new Error(`Postgres did not start: ${output}`);
}
