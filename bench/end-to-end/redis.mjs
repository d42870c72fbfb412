// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readCpuSeconds, freePort } from '../postgres/server.mjs';

/**
 * Starts the system's redis-server on loopback, without persistence, or with every write on disk before the reply.
 * @param {{ isDurable?: boolean }} [options]
 * @returns {Promise<{ url: string, pid: number, cpuSeconds: () => number | undefined, stop: () => Promise<void> }>}
 */
export async function startRedis({ isDurable = false } = {}) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'intertie-bench-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  if (isDurable) args.push('--appendonly', 'yes', '--appendfsync', 'always');
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(server, 'exit');
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    void gone.then(() => reject(new Error('redis-server ended before it listened.')));
    let output = '';
    server.stdout.on('data', (piece) => {
      output += String(piece);
      if (output.includes('Ready to accept connections')) resolve(undefined);
    });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid ?? 0,
    cpuSeconds: () => (server.pid === undefined ? undefined : readCpuSeconds(server.pid)),
    async stop() {
      server.kill();
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
