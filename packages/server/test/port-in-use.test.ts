import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInMemoryStore } from '@intertie/core';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { commands } from '../src/commands/index.ts';
import { runProgram } from '../src/commands/program.ts';
import { serve } from '../src/serve.ts';
import { askingSource } from './asking-source.ts';

const agents = { asker: askingSource() };
let folder: string;
let other: Server;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'intertie-port-'));
  other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  ({ port } = other.address() as { port: number });
});
afterAll(() => {
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Records the servers that a test starts, and expects them to be closed: other test files may have left some open. */
function recordServers(): { expectClosed: () => Promise<void> } {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  return {
    async expectClosed() {
      expect(listen).toHaveBeenCalled();
      await vi.waitFor(() =>
        expect((listen.mock.contexts as Server[]).filter(({ listening }) => listening)).toEqual([]),
      );
    },
  };
}

test('rejects a port in use before it creates a database', async () => {
  const database = join(folder, 'data');
  await expect(serve({ agents, database }, { port })).rejects.toMatchObject({ code: 'port-taken' });
  expect(existsSync(database)).toBe(false);
});

test('exits with an error on a port in use in demo mode, and leaves no demo server running', async () => {
  const servers = recordServers();
  const cwd = process.cwd();
  let [out, err] = ['', ''];
  process.chdir(folder);
  try {
    const code = await runProgram(['serve', '--port', String(port)], commands, {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      env: {},
    });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is already in use\\.\nStop that program, or choose another port`),
    );
    expect(existsSync(join(folder, '.intertie'))).toBe(false);
  } finally {
    process.chdir(cwd);
  }
  await servers.expectClosed();
});

test('answers a request that arrives during the start once it has started', async () => {
  const store = createInMemoryStore();
  const { registry } = store;
  const heartbeat = registry.heartbeat.bind(registry);
  let early: Promise<Response> | undefined;
  registry.heartbeat = async (...given) => {
    early ??= fetch(`${listening}/health`);
    return heartbeat(...given);
  };
  let listening = '';
  const server = await serve({ agents, database: store }, { port: 0, onListening: (url) => void (listening = url) });
  expect(server.url).toBe(listening);
  expect((await early!).status).toBe(200);
  await server.close();
});

test('releases the port when it cannot start', async () => {
  const servers = recordServers();
  const store = createInMemoryStore();
  store.registry.heartbeat = () => Promise.reject(new Error('no database'));
  await expect(serve({ agents, database: store }, { port: 0 })).rejects.toThrow('no database');
  await servers.expectClosed();
});
