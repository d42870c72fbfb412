import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { newPostgresUrl } from './databases.ts';
import { sessionStart, startFaultProxy, type FaultProxy } from './fault-proxy.ts';

let server: string;
let proxy: FaultProxy;
const clients: pg.Client[] = [];

beforeAll(async () => {
  server = await newPostgresUrl({ empty: true });
  const direct = await open(server);
  await direct.query('create table marks (mark text)');
  await close();
});
beforeEach(async () => {
  proxy = await startFaultProxy(server);
});
afterEach(async () => {
  await proxy.close();
  await close();
});

it('forwards simple and prepared statements', async () => {
  const client = await open(proxy.url);
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  const named = { name: 'two', text: 'select $1::int as two', values: [2] };
  expect((await client.query(named)).rows).toEqual([{ two: 2 }]);
  expect((await client.query(named)).rows).toEqual([{ two: 2 }]);
  expect(proxy.connections).toBe(1);
});

it('drops the reply to a commit that the server has executed', async () => {
  const client = await open(proxy.url);
  const dropped = proxy.once(
    (statement, earlier) => statement === 'commit' && earlier.some((text) => text.includes('insert into marks')),
    { kind: 'drop-reply' },
  );
  await client.query('begin');
  await client.query('select 1');
  await client.query('commit');
  await client.query('begin');
  await client.query('insert into marks values ($1)', ['committed']);
  await expect(client.query('commit')).rejects.toThrow('terminated');
  expect(await dropped).toBe('commit');
  expect(await marks('committed')).toBe(1);
});

it('drops a prepared statement before the server receives it', async () => {
  const client = await open(proxy.url);
  const insert = { name: 'insert', text: 'insert into marks values ($1)' };
  await client.query({ ...insert, values: ['first'] });
  const dropped = proxy.once('INSERT INTO MARKS', { kind: 'drop-statement' });
  await expect(client.query({ ...insert, values: ['second'] })).rejects.toThrow('terminated');
  expect(await dropped).toBe(insert.text);
  expect([await marks('first'), await marks('second')]).toEqual([1, 0]);
});

it('delays one reply without reordering', async () => {
  const client = await open(proxy.url);
  const delayed = proxy.once(/delayed/, { kind: 'delay', ms: 50 });
  const order: string[] = [];
  void delayed.then(() => order.push('delayed'));
  await Promise.all([
    client.query("select 'delayed'").then(() => order.push('reply')),
    client.query("select 'next'").then(() => order.push('next')),
  ]);
  expect(order).toEqual(['delayed', 'reply', 'next']);
});

it('delays every reply', async () => {
  const client = await open(proxy.url);
  proxy.delayMs = 100;
  await expect(client.query({ text: 'select 1', query_timeout: 20 } as pg.QueryConfig)).rejects.toThrow('timeout');
});

it('silences existing connections only, until they are resumed', async () => {
  const client = await open(proxy.url);
  proxy.silence({ future: false });
  let isAnswered = false;
  const answer = client.query('select 1').then(() => (isAnswered = true));
  const other = await open(proxy.url);
  await other.query('select 1');
  expect(isAnswered).toBe(false);
  proxy.resume();
  await answer;
});

it('accepts new connections and never answers them', async () => {
  const client = await open(proxy.url);
  proxy.silence({ existing: false });
  await expect(open(proxy.url, { connectionTimeoutMillis: 50 })).rejects.toThrow('timeout');
  await client.query('select 1');
  proxy.resume();
  await open(proxy.url);
});

it('silences a connection from one reply on', async () => {
  const client = await open(proxy.url);
  const silenced = proxy.once('insert into marks', { kind: 'silence' });
  const answer = client.query("insert into marks values ('silenced')").catch(() => 'cut');
  await silenced;
  expect(await marks('silenced')).toBe(1);
  proxy.cut();
  expect(await answer).toBe('cut');
});

it('rejects connections while it is down', async () => {
  const client = await open(proxy.url);
  await proxy.down();
  await expect(client.query('select 1')).rejects.toThrow('terminated');
  await expect(open(proxy.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.up();
  await open(proxy.url);
});

it('sends an error of the server together with ReadyForQuery', async () => {
  const client = await open(proxy.url);
  const failed = new Promise<unknown>((resolve) => client.on('error', resolve));
  const injected = proxy.once('select 1', { kind: 'append-error' });
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await injected;
  expect(await failed).toMatchObject({ code: '57P01', severity: 'FATAL' });
});

it('applies a fault to the start of a session', async () => {
  const failed = proxy.once(sessionStart, { kind: 'drop-reply' });
  await expect(open(proxy.url)).rejects.toThrow('terminated');
  expect(await failed).toBe(sessionStart);
  await open(proxy.url);
});

async function open(url: string, options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...options });
  client.on('error', () => undefined);
  clients.push(client);
  await client.connect();
  return client;
}

async function close(): Promise<void> {
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)));
}

async function marks(mark: string): Promise<number> {
  const direct = await open(server);
  return (await direct.query('select from marks where mark = $1', [mark])).rowCount ?? 0;
}
