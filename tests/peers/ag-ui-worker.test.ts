import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

import { agUiSource } from '@intertie/ag-ui';
import { foldEvents, type AgentEvent } from '@intertie/core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { install } from '../../scripts/install.mjs';
import { root } from '../../scripts/workspace.mjs';

const folder = join(root, 'tests/peers/ag-ui-worker');
const config = (disk: string): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "disk", disk = (path = "${disk}", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["nodejs_compat"],
  durableObjectNamespaces = [(className = "Chat", uniqueKey = "chat", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "Chat", durableObjectNamespace = "Chat")],
);
`;

/** Bundles the example like a deployment. */
async function bundleTo(file: string): Promise<void> {
  const bundle = await rolldown({
    input: join(root, 'examples/cloudflare-agent/src/worker.js'),
    platform: 'browser',
    external: [/^cloudflare:(?!email)/, /^node:/],
    resolve: { conditionNames: ['workerd', 'worker', 'import', 'module', 'browser', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '""' } },
    plugins: [
      {
        name: 'example',
        async resolveId(id, importer) {
          // Exists only on the platform, and is needed only for mail.
          if (id === 'cloudflare:email') return 'virtual:email';
          if (id === 'path') return { id: 'node:path', external: true };
          if (!importer?.includes('examples/cloudflare-agent') || id.startsWith('.')) return undefined;
          const from = id.startsWith('@intertie/') ? root : folder;
          return this.resolve(id, join(from, 'package.json'), { skipSelf: true });
        },
        load: (id) => (id === 'virtual:email' ? 'export class EmailMessage {}' : undefined),
      },
    ],
  });
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
}

describe('the agent on Cloudflare, in workerd', () => {
  const home = mkdtempSync(join(tmpdir(), 'intertie-worker-'));
  let running: ChildProcess | undefined;
  let host: string;
  let stderr = '';

  beforeAll(async () => {
    install('tests/peers/ag-ui-worker');
    const load = createRequire(join(folder, 'package.json'));
    vi.stubGlobal('WebSocket', (load('ws') as { WebSocket: unknown }).WebSocket);
    await bundleTo(join(home, 'worker.js'));
    mkdirSync(join(home, 'disk'));
    writeFileSync(join(home, 'config.capnp'), config(join(home, 'disk')));
    const workerd = (load('workerd') as { default: string }).default;
    const child = spawn(workerd, ['serve', join(home, 'config.capnp'), '--experimental', '--control-fd=3'], {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    });
    running = child;
    child.stderr?.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
    const port = await new Promise<string>((resolve, reject) => {
      let text = '';
      (child.stdio[3] as Readable).on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const [, listening] = /"port":\s*(\d+)/.exec(text) ?? [];
        if (listening !== undefined) resolve(listening);
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`workerd ended with ${code}: ${stderr}`)));
    });
    host = `127.0.0.1:${port}`;
  });

  afterAll(async () => {
    vi.unstubAllGlobals();
    if (running?.pid && running.exitCode === null) {
      const gone = new Promise((resolve) => running?.once('exit', resolve));
      process.kill(running.pid);
      await gone;
    }
    rmSync(home, { recursive: true });
  });

  it('answers over its socket, and the reader ignores frames of the SDK', async () => {
    const lost: unknown[] = [];
    const source = agUiSource({ url: `ws://${host}/agents/chat/room-1`, onLoss: (loss) => void lost.push(loss) });
    const asked = { type: 'text' as const, text: 'Hi' };
    const user = { id: 'u', threadId: 't', role: 'user' as const, type: 'text' as const, createdAt: new Date(0) };
    const events: AgentEvent[] = [];
    const stream = source.run(
      {
        runId: 'run-1',
        threadId: 't',
        messageId: 'm',
        startedAt: 0,
        history: [{ ...user, content: { format: 2, parts: [asked] } }],
        answers: [],
        tools: [],
        context: [],
      },
      { signal: AbortSignal.timeout(30_000), barrier: async () => undefined, liveAnswers: (async function* () {})() },
    );
    for await (const event of stream) events.push(event);
    expect(foldEvents(events), stderr).toMatchObject({
      status: 'complete',
      content: { parts: [{ type: 'text', text: 'Hello from the edge.' }] },
    });
    expect(lost).toEqual([]);
  });

  it('responds with 404 to other requests', async () => {
    expect((await fetch(`http://${host}/elsewhere`)).status).toBe(404);
  });
});
