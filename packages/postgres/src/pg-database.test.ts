import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';

import { newPostgresUrl } from '../test/databases.ts';
import { startStoppedServer } from '../test/stopped-server.ts';
import type { Database, Sql } from './database.ts';
import { connectPg, usePgPool } from './pg-database.ts';

const counted = 'select count(*)::int4 as counted from unnest($1::text[])';

/** Whether the connection has prepared the statement `counted`. */
async function isPrepared(sql: Sql): Promise<boolean> {
  const rows = await sql.query('select 1 as one from pg_prepared_statements where statement = $1', [counted]);
  return rows.length > 0;
}

/** Runs the statement twice on one connection and returns whether it was prepared. */
function prepares(database: Database, ids: string[] = ['a', 'b'], isFrequent = true): Promise<boolean> {
  return database.transaction(async (sql) => {
    const options = isFrequent ? ({ prepare: true } as const) : {};
    expect(await sql.query(counted, [ids], options)).toEqual([{ counted: ids.length }]);
    expect(await sql.query(counted, [ids], options)).toEqual([{ counted: ids.length }]);
    return isPrepared(sql);
  });
}

function open(url: string, options?: Parameters<typeof connectPg>[1]): Database {
  const database = connectPg(url, options);
  onTestFinished(() => database.close());
  return database;
}

/**
 * Simulates a pooler: the announced process id is not that of the server process. Changes only this message (`K`,
 * BackendKeyData).
 */
async function startPooler(url: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream);
    let isGreeting = true;
    upstream.on('data', (data) => {
      for (let at = 0; isGreeting && at < data.length; at += 1 + data.readInt32BE(at + 1)) {
        if (data[at] !== 'K'.charCodeAt(0)) continue;
        data.writeInt32BE(data.readInt32BE(at + 5) + 1, at + 5);
        isGreeting = false;
      }
      client.write(data);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return url.replace(`:${port}/`, `:${(server.address() as AddressInfo).port}/`);
}

it('prepares a statement once on a direct connection', async () => {
  expect(await prepares(open(await newPostgresUrl()))).toBe(true);
});

it('prepares statements behind a pooler only if enabled', async () => {
  const url = await startPooler(await newPostgresUrl());
  expect(await prepares(open(url))).toBe(false);
  expect(await prepares(open(url, { prepare: true }))).toBe(true);
});

it('prepares statements on a pool of the user only if enabled', async () => {
  const pool = new pg.Pool({ connectionString: await newPostgresUrl(), max: 1 });
  onTestFinished(() => pool.end());
  expect(await prepares(usePgPool(pool))).toBe(false);
  expect(await prepares(usePgPool(pool, { prepare: true }))).toBe(true);
});

it('prepares a statement once for arrays of any length', async () => {
  const database = open(await newPostgresUrl());
  const ids = Array.from({ length: 1000 }, String);
  expect(await prepares(database, ids)).toBe(true);
});

it('prepares no statement without the option', async () => {
  expect(await prepares(open(await newPostgresUrl()), ['a'], false)).toBe(false);
});

it('prepares no statement if disabled', async () => {
  expect(await prepares(open(await newPostgresUrl(), { prepare: false }))).toBe(false);
});

it('counts the connections of its pools', async () => {
  const url = await newPostgresUrl();
  const database = open(url);
  expect(database.connections!()).toEqual({
    hot: { total: 0, idle: 0, waiting: 0 },
    requests: { total: 0, idle: 0, waiting: 0 },
  });
  await database.transaction(async (sql) => {
    await sql.query('select 1 as one');
    expect(database.connections!()['requests']).toEqual({ total: 1, idle: 0, waiting: 0 });
  });
  expect(database.connections!()['requests']).toEqual({ total: 1, idle: 1, waiting: 0 });
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  onTestFinished(() => pool.end());
  expect(usePgPool(pool).connections!()).toEqual({ shared: { total: 0, idle: 0, waiting: 0 } });
});

it('closes all connections while the server is stopped', { timeout: 60_000 }, async () => {
  const { url, clients } = await startStoppedServer(await newPostgresUrl());
  const database = connectPg(url, { timeouts: { controlMs: 1_000 } });
  await Promise.all([database.query('select 1 as one'), database.hot.query('select 1 as one')]);
  await database.close();
  const isClosed = (): boolean => {
    // Only a write shows that the client has destroyed its socket instead of only ending its side.
    for (const client of clients) client.write('x');
    return [...clients].every(({ destroyed }) => destroyed);
  };
  await vi.waitFor(() => expect(isClosed()).toBe(true), { timeout: 20_000 });
  expect(clients.size).toBe(2);
});
