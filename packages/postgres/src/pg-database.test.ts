import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';

import { newPostgresUrl } from '../test/databases.ts';
import { startStoppedServer } from '../test/stopped-server.ts';
import type { Database, Sql } from './database.ts';
import { connectPg, usePgPool } from './pg-database.ts';

const counted = 'select count(*)::int4 as counted from unnest($1::text[])';

/** Whether the connection has kept the plan of `counted`. */
async function isMessageActive(sql: Sql): Promise<boolean> {
  const rows = await sql.query('select 1 as one from pg_prepared_statements where statement = $1', [counted]);
  return rows.length > 0;
}

/** In one transaction, and so on one connection. */
function keeps(database: Database, ids: string[] = ['a', 'b'], isFrequent = true): Promise<boolean> {
  return database.transaction(async (sql) => {
    const options = isFrequent ? ({ prepare: true } as const) : {};
    expect(await sql.query(counted, [ids], options)).toEqual([{ counted: ids.length }]);
    expect(await sql.query(counted, [ids], options)).toEqual([{ counted: ids.length }]);
    return isMessageActive(sql);
  });
}

function open(url: string, options?: Parameters<typeof connectPg>[1]): Database {
  const database = connectPg(url, options);
  onTestFinished(() => database.close());
  return database;
}

/**
 * What a pooler looks like to who connects: the process that greets them is none of the server's. Only that message (`K`,
 * the key for cancelling) is changed.
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

it('plans a statement once on a connection of its own with the server', async () => {
  expect(await keeps(open(await newPostgresUrl()))).toBe(true);
});

it('behind a pooler keeps no plans, unless it is told that the pooler knows of them', async () => {
  const url = await startPooler(await newPostgresUrl());
  expect(await keeps(open(url))).toBe(false);
  expect(await keeps(open(url, { prepare: true }))).toBe(true);
});

it("keeps no plans on a pool of the user's own, whose sessions may be reset", async () => {
  const pool = new pg.Pool({ connectionString: await newPostgresUrl(), max: 1 });
  onTestFinished(() => pool.end());
  expect(await keeps(usePgPool(pool))).toBe(false);
  expect(await keeps(usePgPool(pool, { prepare: true }))).toBe(true);
});

it('plans a statement once, however long its lists are', async () => {
  const database = open(await newPostgresUrl());
  const ids = Array.from({ length: 1000 }, String);
  expect(await keeps(database, ids)).toBe(true);
});

it('keeps the plan of no statement that does not ask for it', async () => {
  expect(await keeps(open(await newPostgresUrl()), ['a'], false)).toBe(false);
});

it('keeps no plans where that is not wanted', async () => {
  expect(await keeps(open(await newPostgresUrl(), { prepare: false }))).toBe(false);
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

it('leaves no connection open after it was closed while the server is stopped', { timeout: 60_000 }, async () => {
  const { url, clients } = await startStoppedServer(await newPostgresUrl());
  const database = connectPg(url, { timeouts: { controlMs: 1_000 } });
  await Promise.all([database.query('select 1 as one'), database.hot.query('select 1 as one')]);
  await database.close();
  const isClosed = (): boolean => {
    // Only a write shows that the client has destroyed its socket, and not only ended its side.
    for (const client of clients) client.write('x');
    return [...clients].every(({ destroyed }) => destroyed);
  };
  await vi.waitFor(() => expect(isClosed()).toBe(true), { timeout: 20_000 });
  expect(clients.size).toBe(2);
});
