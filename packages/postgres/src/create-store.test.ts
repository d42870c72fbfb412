import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { MessageInput } from '@intertie/core/store';
import { drizzle as drizzlePg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import pg from 'pg';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import { fillFolder, newPostgresUrl, openPglite, postgresServer } from '../test/databases.ts';
import { startFaultProxy } from '../test/fault-proxy.ts';
import { skipTimeouts } from '../test/skip-timeouts.ts';
import { createStore, type CreateStoreOptions } from './create-store.ts';
import type { DrizzleDatabase } from './drivers.ts';
import type { PostgresMemoryStore } from './postgres-store.ts';

const hello: MessageInput = {
  id: 'm1',
  threadId: 'trip',
  role: 'user',
  type: 'text',
  createdAt: new Date('2024-03-01T10:00:00Z'),
  content: { format: 2, parts: [{ type: 'text', text: 'Hello, \0 and \uD800.' }] },
};

async function open(target?: string | CreateStoreOptions): Promise<PostgresMemoryStore> {
  const store = await createStore(target);
  onTestFinished(() => store.close());
  return store;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'intertie-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function newPool(url?: string): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url ?? (await newPostgresUrl({ empty: true })), max: 4 });
  onTestFinished(() => pool.end());
  return pool;
}

/** Uses a little of each part of a store. */
async function use(store: PostgresMemoryStore) {
  const saved = await store.saveMessages({ messages: [hello], operationKey: 'op_1' });
  const again = await store.saveMessages({ messages: [hello], operationKey: 'op_1' });
  await store.registry.heartbeat('p1');
  const run = { threadId: 'trip', runId: 'r1', agent: 'a', process: 'p1', messageId: 'm2' };
  const started = await store.registry.start(store.scope, { ...run, busy: 'reject', pending: 'supersede' });
  const { sha256 } = await store.blobs.put(store.scope, { data: new Uint8Array([1, 2, 3]) });
  const bytes = await new Response(await store.blobs.get(store.scope, sha256)).arrayBuffer();
  const listed = await store.listMessages({ threadId: 'trip' });
  return { saved, again, started: started.type, bytes: [...new Uint8Array(bytes)], listed: listed.map(({ id }) => id) };
}

const first = { messages: [{ ...hello, status: 'complete' }], version: 1 };
const used = { saved: first, again: first, started: 'started', bytes: [1, 2, 3], listed: ['m1', 'm2'] };

describe('createStore', () => {
  beforeAll(() => postgresServer(), 60_000);

  it('opens and migrates a server by URL', async () => {
    const url = await newPostgresUrl({ empty: true });
    const store = await open(url);
    expect(store.scope).toBe('local');
    expect(await use(store)).toEqual(used);
    expect(await store.threadUuid('trip')).toMatch(/^[0-9a-f-]{36}$/);
    await expect(store.threadUuid('elsewhere')).rejects.toMatchObject({ code: 'not-found' });
    const again = await open({ url, migrate: false, scope: 'ada', prepare: true });
    expect(again.scope).toBe('ada');
    expect(await use(again)).toEqual(used);
  });

  it('opens a pool of the user and does not close it', async () => {
    const pool = await newPool();
    const store = await open({ pool, schema: 'chat' });
    expect(await use(store)).toEqual(used);
    await store.close();
    expect((await pool.query('select count(*)::int4 as n from chat.threads')).rows).toEqual([{ n: 1 }]);
  });

  it('ignores global type parsers of pg', async () => {
    const pool = await newPool();
    const { getTypeParser } = pg.types;
    onTestFinished(() => void vi.restoreAllMocks());
    vi.spyOn(pg.types, 'getTypeParser').mockImplementation(((oid: number, format: never) =>
      oid === 701 ? () => 'mine' : getTypeParser(oid, format)) as typeof getTypeParser);
    expect(await use(await open({ pool }))).toEqual(used);
  });

  it('opens a Drizzle database on a pool and on PGlite', { timeout: 30_000 }, async () => {
    expect(await use(await open({ db: drizzlePg(await newPool()) }))).toEqual(used);
    const { pglite, close } = await openPglite();
    onTestFinished(close);
    expect(await use(await open({ db: drizzlePglite(pglite) }))).toEqual(used);
  });

  it('opens a Drizzle database on an unknown driver', async () => {
    const db = drizzlePg(await newPool());
    const unknown: DrizzleDatabase = {
      execute: (query) => db.execute(query as string),
      transaction: (work, config) => db.transaction((tx) => work(tx), config),
    };
    expect(await use(await open({ db: unknown }))).toEqual(used);
  });

  it('rejects a Drizzle database with a single connection', async () => {
    await expect(createStore({ db: drizzlePg(new pg.Client('postgres://127.0.0.1/none')) })).rejects.toThrow(
      /single connection.*new pg\.Pool/s,
    );
  });

  it('opens a folder once per process and finds its data again', { timeout: 120_000 }, async () => {
    const folder = join(newFolder(), 'deep', 'down');
    // The first start of PGlite takes seconds; the README programs test it.
    await fillFolder(folder);
    const [one, other] = await Promise.all([open(folder), open({ folder, scope: 'other' })]);
    expect(await use(one)).toEqual(used);
    expect(await other.forScope('local').listMessages({ threadId: 'trip' })).toHaveLength(2);
    await one.close();
    await one.close();
    expect(await other.listThreads()).toEqual({ threads: [] });
    await other.close();
    expect(existsSync(join(folder, 'database.lock'))).toBe(false);

    // Another process locks the folder, and the lock is taken over when it is killed.
    const built = new URL('../dist/index.js', import.meta.url).href;
    const program = `import { createStore } from '${built}';
      const store = await createStore(${JSON.stringify(folder)});
      await store.saveThread({ thread: { id: 'theirs' } });
      process.stdout.write('open');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await expect(createStore(folder)).rejects.toMatchObject({ name: 'FolderLockedError', holder: { pid: child.pid } });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });
    const again = await open(folder);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('DATABASE_URL'), { code: 'INTERTIE_EMBEDDED' });
    expect(await again.listMessages({ threadId: 'trip' })).toHaveLength(2);
    expect(await again.getThreadById({ threadId: 'theirs' })).not.toBeNull();
  });

  it('lets a process take over runs in a folder without waiting for the lease of the previous process', async () => {
    const folder = newFolder();
    await fillFolder(folder);
    const previous = await createStore({ folder, leaseMs: 600_000 });
    await use(previous);
    await previous.close();
    const next = await open(folder);
    expect(await next.registry.takeOver('p2')).toMatchObject([{ run: { runId: 'r1' } }]);
  }, 60_000);

  it('opens DATABASE_URL without arguments', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('DATABASE_URL', await newPostgresUrl());
    const store = await open();
    expect(await store.listThreads()).toEqual({ threads: [] });
  });

  it('opens the folder in DATABASE_URL', { timeout: 60_000 }, async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = join(newFolder(), 'data');
    await fillFolder(folder);
    vi.stubEnv('DATABASE_URL', folder);
    const store = await open();
    expect(await store.listThreads()).toEqual({ threads: [] });
    expect(existsSync(join(folder, 'database.lock'))).toBe(true);
  });

  it.each(['mysql://127.0.0.1/chat', 'https://example.com', ''])('rejects the target "%s"', async (target) => {
    await expect(createStore(target)).rejects.toThrow(/postgres:\/\/user@host\/database, or the path of a folder/);
  });

  it('rejects two targets', async () => {
    await expect(createStore({ url: 'postgres://127.0.0.1/a', folder: 'b' })).rejects.toThrow(/url and folder/);
  });

  it('rejects pending migrations with `migrate: false`', async () => {
    const url = await newPostgresUrl({ empty: true });
    await expect(createStore({ url, migrate: false })).rejects.toMatchObject({ code: 'needed' });
  });

  it('does not name the server of DATABASE_URL in errors of a pool', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('DATABASE_URL', 'postgres://elsewhere.example/other');
    const pool = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/nothing' });
    onTestFinished(() => pool.end());
    await expect(createStore({ pool })).rejects.toMatchObject({
      code: 'database-away',
      message: expect.not.stringContaining('elsewhere') as string,
    });
  });

  it('fails in bounded time if the server never answers', { timeout: 30_000 }, async () => {
    const proxy = await startFaultProxy(await newPostgresUrl({ empty: true }));
    onTestFinished(() => proxy.close());
    proxy.silence();
    await expect(skipTimeouts(() => createStore(proxy.url))).rejects.toMatchObject({
      code: 'database-away',
      message: expect.stringMatching(
        /^No Postgres server answers at 127\.0\.0\.1:\d+ for database "test_\w+" \(.*timeout/,
      ),
    });
  });

  it('names the unreachable server without the password', async () => {
    const error = await createStore('postgres://ada:secret@127.0.0.1:1/chat').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringMatching(/127\.0\.0\.1:1 for database "chat" \(ECONNREFUSED\)/),
    });
    expect((error as Error).message).not.toContain('secret');
  });
});
