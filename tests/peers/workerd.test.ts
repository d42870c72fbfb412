import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import workerd from 'workerd';

import { root } from '../../scripts/workspace.mjs';
import { smokeAiSdk } from '../smoke/ai-sdk.mjs';
import { smoke } from '../smoke/smoke.mjs';

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2025-01-01",
);
`;
const worker = `import { smoke } from './smoke.mjs';
import { smokeAiSdk } from './ai-sdk.mjs';
export default {
  fetch: async ({ url }) => Response.json(await (url.endsWith('/ai-sdk') ? smokeAiSdk() : smoke())),
};
`;

describe('in workerd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-workerd-'));
  let running: ChildProcess;
  let port: number;
  let stderr = '';

  beforeAll(async () => {
    // Bundled like a deployed worker, from the built packages, without Node.js compatibility.
    const bundle = await rolldown({
      input: 'virtual:worker',
      // `ai` has files for browsers, which also work in workers.
      platform: 'browser',
      transform: { define: { 'process.env.NODE_ENV': '""' } },
      plugins: [
        {
          name: 'worker',
          resolveId: (id, importer) => {
            if (id === 'virtual:worker') return id;
            return importer === 'virtual:worker' ? join(root, 'tests/smoke', id) : undefined;
          },
          load: (id) => (id === 'virtual:worker' ? worker : undefined),
        },
      ],
      onLog: (level, log) => {
        if (level === 'warn') throw new Error(log.message);
      },
    });
    await bundle.write({ file: join(folder, 'worker.js'), format: 'esm' });
    await bundle.close();
    writeFileSync(join(folder, 'config.capnp'), config);

    // workerd chooses the port, and reports it on the control pipe.
    running = spawn(workerd, ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    });
    running.stderr?.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
    port = await new Promise<number>((resolve, reject) => {
      let text = '';
      (running.stdio[3] as Readable).on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const listening = /"port":\s*(\d+)/.exec(text);
        if (listening) resolve(Number(listening[1]));
      });
      running.once('error', reject);
      running.once('exit', (code) => reject(new Error(`workerd ended with ${code}: ${stderr}`)));
    });
  });

  afterAll(async () => {
    if (running?.pid && running.exitCode === null) {
      const gone = new Promise((resolve) => running.once('exit', resolve));
      process.kill(running.pid);
      await gone;
    }
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['/', smoke],
    ['/ai-sdk', smokeAiSdk],
  ])('returns the same results as Node.js: %s', async (path, here) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const text = await response.text();
    expect(response.status, `${text}\n${stderr}`).toBe(200);
    expect(JSON.parse(text)).toEqual(await here());
  });
});
