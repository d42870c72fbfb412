import { createStore } from '@intertie/postgres';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { newPostgresUrl } from '../../postgres/test/databases.ts';
import { startFaultProxy, type FaultProxy } from '../../postgres/test/fault-proxy.ts';
import { createIntertie } from '../src/create-intertie.ts';
import { askingSource } from './asking-source.ts';

type Served = { proxy: FaultProxy; ready: () => Promise<number>; post: () => Promise<number>; sql: pg.Client };

async function setUp(): Promise<Served> {
  const url = await newPostgresUrl();
  const proxy = await startFaultProxy(url);
  const store = await createStore(proxy.url);
  const { fetch, close } = await createIntertie({ agents: { asker: askingSource() }, database: store });
  const sql = new pg.Client(url);
  await sql.connect();
  onTestFinished(async () => {
    proxy.resume();
    await close();
    await store.close();
    await sql.end();
    await proxy.close();
  });
  const at = (path: string): string => `http://127.0.0.1${path}`;
  const body = JSON.stringify({
    id: 't',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  });
  const post = (): Request =>
    new Request(at('/api/chat'), { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const fetchStatus = async (request: Request): Promise<number> => {
    const response = await fetch(request);
    await response.body?.cancel();
    return response.status;
  };
  return { proxy, ready: () => fetchStatus(new Request(at('/ready'))), post: () => fetchStatus(post()), sql };
}

const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 200 });

it('answers 503 while the database accepts connections and does not answer', { timeout: 60_000 }, async () => {
  const { proxy, ready } = await setUp();
  expect(await ready()).toBe(200);
  proxy.silence();
  await eventually(async () => expect(await ready()).toBe(503));
  proxy.cut();
  proxy.resume();
  await eventually(async () => expect(await ready()).toBe(200));
});

/** Makes every write to the table fail as it does on a full disk, or work again. */
const fill = (table: string): string => `
  create function disk_full() returns trigger language plpgsql
    as 'begin raise exception using errcode = ''53100'', message = ''could not extend file''; end';
  create trigger disk_full before insert or update on intertie.${table} execute function disk_full()`;
const free = 'drop function disk_full cascade';

it('answers 503 while the lease cannot be written', { timeout: 60_000 }, async () => {
  const { ready, sql } = await setUp();
  await sql.query(fill('processes'));
  await eventually(async () => expect(await ready()).toBe(503));
  await sql.query(free);
  await eventually(async () => expect(await ready()).toBe(200));
});

it('answers 503 after a run could not be stored, although the lease can be renewed', { timeout: 60_000 }, async () => {
  const { ready, post, sql } = await setUp();
  await sql.query(fill('run_live'));
  expect(await post()).toBe(503);
  await eventually(async () => expect(await ready()).toBe(503));
  await sql.query(free);
  await eventually(async () => expect(await ready()).toBe(200));
});
