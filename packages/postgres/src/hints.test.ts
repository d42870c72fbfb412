import type { Hint, RunKey } from '@intertie/core/store';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { newPostgresUrl, openPglite, postgresServer } from '../test/databases.ts';
import { startStoppedServer } from '../test/stopped-server.ts';
import type { Database } from './database.ts';
import { createHints, type PostgresHints } from './hints.ts';
import { connectPg } from './pg-database.ts';
import { transact } from './transact.ts';

const stop = (run: string): Hint => ({ type: 'stop', run: run as RunKey });

function open(database: Database): { hints: PostgresHints; received: Hint[] } {
  const hints = createHints(database, { reconnectMs: { first: 10, max: 50 } });
  const received: Hint[] = [];
  hints.subscribe((hint) => void received.push(hint));
  onTestFinished(async () => {
    await hints.close();
    await database.close();
  });
  return { hints, received };
}

const waitFor = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

describe('hints', { timeout: 60_000 }, () => {
  it('delivers hints to other processes', async () => {
    const url = await newPostgresUrl();
    const [one, two] = [open(connectPg(url)), open(connectPg(url))];
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    one.hints.publish(stop('r1'));
    await waitFor(() => expect([one.received, two.received]).toEqual([[stop('r1')], [stop('r1')]]));
  });

  it('delivers hints with the commit and drops them on rollback', async () => {
    const url = await newPostgresUrl();
    const [database, two] = [connectPg(url), open(connectPg(url))];
    const one = open(database);
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    const failing = transact(database, one.hints, async (_, publish) => {
      publish(stop('never'));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await transact(database, one.hints, async (_, publish) => {
      publish(stop('r1'));
      publish(stop('r1'));
    });
    await waitFor(() => expect(two.received).toEqual([stop('r1')]));
    // The publisher may receive it twice: from its own commit and from the server.
    await waitFor(() =>
      expect([...new Set(one.received.map((hint) => JSON.stringify(hint)))]).toEqual([JSON.stringify(stop('r1'))]),
    );
  });

  it('emits hints locally while the connection is lost and reconnects', async () => {
    const url = await newPostgresUrl();
    const database = connectPg(url);
    const [one, two] = [open(database), open(connectPg(url))];
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    // The server accepts no connections for a while, so that the state can be observed.
    const admin = new pg.Client(`${await postgresServer()}/postgres`);
    await admin.connect();
    onTestFinished(() => admin.end());
    const name = admin.escapeIdentifier(new URL(url).pathname.slice(1));
    await admin.query(`alter database ${name} allow_connections false`);
    await database.query(
      `select pg_terminate_backend(pid)::text as ended from pg_stat_activity
        where application_name = 'intertie hints' and datname = current_database()`,
    );
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([false, false]));
    one.hints.publish(stop('r1'));
    await waitFor(() => expect(one.received).toEqual([stop('r1')]));
    expect(two.received).toEqual([]);
    await admin.query(`alter database ${name} allow_connections true`);
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    one.hints.publish(stop('r2'));
    await waitFor(() => expect(two.received).toContainEqual(stop('r2')));
  });

  it('ignores notifications of other programs on the channel', async () => {
    const database = connectPg(await newPostgresUrl());
    const { hints, received } = open(database);
    await waitFor(() => expect(hints.isConnected()).toBe(true));
    await database.query('select pg_notify($1, $2)::text', [hints.channel, 'hello']);
    hints.publish(stop('r1'));
    await waitFor(() => expect(received).toEqual([stop('r1')]));
  });

  it('emits hints locally without a connection for LISTEN', async () => {
    const database = { ...connectPg(await newPostgresUrl()), directUrl: undefined } as unknown as Database;
    const { hints, received } = open(database);
    hints.publish(stop('r1'));
    await waitFor(() => expect(received).toEqual([stop('r1')]));
    expect(hints.isConnected()).toBe(false);
  });

  it('emits hints locally behind a pooler that accepts LISTEN and delivers nothing', async () => {
    const directUrl = await newPostgresUrl();
    const database = connectPg(await newPostgresUrl(), { directUrl });
    const { hints, received } = open(database);
    hints.publish(stop('r1'));
    await waitFor(() => expect(received).toEqual([stop('r1')]));
    const listening = `select pid from pg_stat_activity
      where application_name = 'intertie hints' and query like 'listen%' and datname = $1`;
    const directName = new URL(directUrl).pathname.slice(1);
    await waitFor(async () => expect(await database.query(listening, [directName])).not.toEqual([]));
    expect(hints.isConnected()).toBe(false);
    hints.publish(stop('r2'));
    await waitFor(() => expect(received).toEqual([stop('r1'), stop('r2')]));
  });

  it('emits hints locally on PGlite', async () => {
    const { hints, received } = open(await openPglite());
    hints.publish(stop('r1'));
    await waitFor(() => expect(received).toEqual([stop('r1')]));
    expect(hints.isConnected()).toBe(true);
  });

  it('uses one channel per database schema with a name of at most 63 bytes', () => {
    const database = { embedded: true } as Database;
    const getChannel = (schema: string): string => createHints({ ...database, schema }).channel;
    expect(getChannel('intertie')).toBe('intertie');
    expect(getChannel('x'.repeat(63))).toMatch(/^intertie_[0-9a-f]{32}$/);
    expect(getChannel('a')).not.toBe(getChannel('b'));
  });

  it('closes while the server is stopped', async () => {
    const url = await newPostgresUrl();
    const { url: directUrl } = await startStoppedServer(url);
    const database = connectPg(url, { directUrl });
    onTestFinished(() => database.close());
    const hints = createHints(database, { timeoutMs: 500 });
    hints.subscribe(() => {});
    await waitFor(() => expect(hints.isConnected()).toBe(true));
    await expect(hints.close()).resolves.toBeUndefined();
  });

  it('closes while the connection is being opened', async () => {
    const database = connectPg(await newPostgresUrl());
    const hints = createHints(database);
    hints.subscribe(() => {});
    await hints.close();
    expect(hints.isConnected()).toBe(false);
    await database.close();
  });
});
