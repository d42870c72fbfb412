import { DatabaseUnavailableError, StoreError } from '@intertie/core';
import pg from 'pg';
import { beforeAll, describe, expect, it, vi, type TestContext } from 'vitest';

import type { Database } from '../src/database.ts';
import { useDrizzle } from '../src/drizzle-database.ts';
import { createHints } from '../src/hints.ts';
import { connectPg, usePgPool, type PgDatabaseOptions } from '../src/pg-database.ts';
import { newPostgresUrl, postgresServer } from './databases.ts';
import { sessionStart, startFaultProxy, type FaultProxy } from './fault-proxy.ts';

// Concurrent tests, because they wait for time limits: each registers its clean-up at its own context.
type Finish = Pick<TestContext, 'onTestFinished'>;

const timeouts = { statementMs: 1_000, lockMs: 1_000, controlMs: 1_000, connectMs: 1_000 };

async function startProxy({ onTestFinished }: Finish): Promise<FaultProxy> {
  const proxy = await startFaultProxy(await newPostgresUrl({ empty: true }));
  onTestFinished(() => proxy.close());
  return proxy;
}

type Open = (context: Finish, url: string, options?: PgDatabaseOptions) => Database | Promise<Database>;

const opened: Array<{ name: string; open: Open }> = [
  {
    name: 'a URL',
    open({ onTestFinished }, url, options) {
      const database = connectPg(url, options);
      onTestFinished(() => database.close());
      return database;
    },
  },
  { name: 'a pool of the program', open: (context, url, options) => usePgPool(openPool(context, url), options) },
  {
    name: 'a Drizzle database on a pool of the program',
    open: (context, url, options) => useDrizzle({ $client: openPool(context, url) } as never, options),
  },
];

function openPool({ onTestFinished }: Finish, url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  return pool;
}

beforeAll(() => postgresServer(), 60_000);

const one = [{ one: 1 }];
const selectOne = 'select 1 as one';

describe.concurrent.each(opened)('a database opened with $name', ({ open }) => {
  it('survives a fatal error in the same segment as ReadyForQuery, on a new, a used and an idle connection', async (context) => {
    const proxy = await startProxy(context);
    const database = await open(context, proxy.url);
    for (const match of [sessionStart, 'begin', selectOne, 'commit']) {
      const injected = proxy.once(match, { kind: 'append-error' });
      await database.transaction((sql) => sql.query(selectOne)).catch((error: unknown) => error);
      await injected;
    }
    await vi.waitFor(async () => expect(await database.query(selectOne)).toEqual(one), { timeout: 10_000 });
    proxy.cut();
    await vi.waitFor(async () => expect(await database.query(selectOne)).toEqual(one), { timeout: 10_000 });
  });

  it.for(['begin', selectOne, 'commit', 'rollback', 'pg_backend_pid'])(
    'fails within its limit when `%s` is not answered, and does not use the connection again',
    async (match, context) => {
      const proxy = await startProxy(context);
      const database = await open(context, proxy.url, { timeouts });
      const isProbe = match === 'pg_backend_pid';
      // Only connections of our own are probed.
      if (isProbe && database.directUrl === undefined) return;
      const refusal = new StoreError('invalid', 'rolled back');
      const silenced = proxy.once(match, { kind: 'silence' });
      const failure = await database
        .transaction(async (sql) => {
          await sql.query(selectOne);
          if (match === 'rollback') throw refusal;
        })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      await silenced;
      // The error of the work is more important than that of the rollback.
      expect(match === 'rollback' ? failure === refusal : failure instanceof DatabaseUnavailableError).toBe(true);
      await vi.waitFor(() => expect(proxy.connections).toBe(0), { timeout: 10_000 });
      expect(await database.transaction((sql) => sql.query(selectOne))).toEqual(one);
    },
  );

  it('fails within its limit when the server accepts connections and never answers', async (context) => {
    const proxy = await startProxy(context);
    const database = await open(context, proxy.url, { timeouts });
    proxy.silence();
    for (const pool of [database, database.hot]) {
      await expect(pool.query(selectOne)).rejects.toMatchObject({
        name: 'DatabaseUnavailableError',
        code: 'database-away',
      });
    }
    proxy.cut();
  });

  it('fails within its limit when all connections of the pool stay in use', async (context) => {
    const proxy = await startProxy(context);
    const database = await open(context, proxy.url, { timeouts: { connectMs: 3_000 } });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const transactions = Array.from({ length: 10 }, () => database.transaction(() => held).catch(() => undefined));
    await vi.waitFor(() => expect(proxy.connections).toBeGreaterThanOrEqual(8), { timeout: 10_000 });
    const failure = await database.query(selectOne).catch((error: unknown) => error);
    release();
    expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    await Promise.all(transactions);
    expect(await database.query(selectOne)).toEqual(one);
  });

  it('reports a refused connection as a DatabaseUnavailableError, with the cause', async (context) => {
    const proxy = await startProxy(context);
    const database = await open(context, proxy.url, { timeouts });
    await proxy.down();
    await expect(database.query(selectOne)).rejects.toMatchObject({
      name: 'DatabaseUnavailableError',
      message: 'The database does not answer.',
      cause: { code: 'ECONNREFUSED' },
    });
  });
});

it.concurrent('reports rejected statements and programming errors unchanged', async (context) => {
  const database = await opened[0]!.open(context, await newPostgresUrl({ empty: true }));
  await expect(database.query('select 1 / 0 as one')).rejects.toMatchObject({ code: '22012' });
  const mistake = new TypeError('a mistake');
  await expect(database.transaction(() => Promise.reject(mistake))).rejects.toBe(mistake);
});

it.concurrent('lets a transaction without time limits take longer than the limits', async (context) => {
  const database = await opened[0]!.open(context, await newPostgresUrl({ empty: true }), { timeouts });
  const slow = `select 1 as one from pg_sleep(2.5)`;
  expect(await database.transaction((sql) => sql.query(slow), { noTimeout: true })).toEqual(one);
});

it.concurrent('opens the LISTEN connection again when it goes silent', { timeout: 20_000 }, async (context) => {
  const url = await newPostgresUrl();
  const proxy = await startFaultProxy(url);
  context.onTestFinished(() => proxy.close());
  const database = await opened[0]!.open(context, url, { directUrl: proxy.url });
  const hints = createHints(database, { reconnectMs: { first: 10, max: 50 }, checkMs: 100, timeoutMs: 200 });
  context.onTestFinished(() => hints.close());
  hints.subscribe(() => undefined);
  const waitFor = (isConnected: boolean): Promise<void> =>
    vi.waitFor(() => expect(hints.isConnected()).toBe(isConnected), { timeout: 10_000 });
  await waitFor(true);
  proxy.silence();
  await waitFor(false);
  proxy.resume();
  await waitFor(true);
});
