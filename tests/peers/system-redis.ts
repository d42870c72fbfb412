import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from './free-port.ts';

/** Whether `redis-server` is in the path. */
export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0;

export type RedisServer = { url: string; restart(): Promise<void>; stop(): Promise<void> };

/** Starts the system's redis-server on loopback. Every write is on disk before the reply. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const port = String(await freePort());
  const folder = mkdtempSync(join(tmpdir(), 'intertie-redis-'));
  const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder, ...options];
  const start = async (): Promise<ChildProcess> => {
    const server = spawn('redis-server', [...args, '--appendonly', 'yes', '--appendfsync', 'always']);
    await ready(server);
    return server;
  };
  let server = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    /** Kills the server, and starts it again on its data. */
    async restart() {
      await end('SIGKILL');
      server = await start();
    },
    async stop() {
      await end('SIGTERM');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(server: ChildProcess): Promise<void> {
  let output = '';
  for await (const chunk of server.stdout!.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) {
      // Drains the output, so that it does not fill the pipe.
      server.stdout!.resume();
      return;
    }
  }
  throw new Error(`redis-server did not start: ${output}`);
}
