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

function open(database: Database): { hints: PostgresHints; heard: Hint[] } {
  const hints = createHints(database, { reconnectMs: { first: 10, max: 50 } });
  const heard: Hint[] = [];
  hints.subscribe((hint) => void heard.push(hint));
  onTestFinished(async () => {
    await hints.close();
    await database.close();
  });
  return { hints, heard };
}

const waitFor = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000 });

describe('hints', { timeout: 60_000 }, () => {
  it('reach other processes', async () => {
    const url = await newPostgresUrl();
    const [one, two] = [open(connectPg(url)), open(connectPg(url))];
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    one.hints.publish(stop('r1'));
    await waitFor(() => expect([one.heard, two.heard]).toEqual([[stop('r1')], [stop('r1')]]));
  });

  it('are given with the commit, and not if there is none', async () => {
    const url = await newPostgresUrl();
    const [database, two] = [connectPg(url), open(connectPg(url))];
    const one = open(database);
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    const failing = transact(database, one.hints, async (_, tell) => {
      tell(stop('never'));
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    await transact(database, one.hints, async (_, tell) => {
      tell(stop('r1'));
      tell(stop('r1'));
    });
    await waitFor(() => expect(two.heard).toEqual([stop('r1')]));
    // It may be told twice: by its own commit and by the server.
    await waitFor(() =>
      expect([...new Set(one.heard.map((hint) => JSON.stringify(hint)))]).toEqual([JSON.stringify(stop('r1'))]),
    );
  });

  it('come again after the connection was lost; until then they stay in the process', async () => {
    const url = await newPostgresUrl();
    const database = connectPg(url);
    const [one, two] = [open(database), open(connectPg(url))];
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    // The server takes no new connection for a while, so that it is not back before we look.
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
    await waitFor(() => expect(one.heard).toEqual([stop('r1')]));
    expect(two.heard).toEqual([]);
    await admin.query(`alter database ${name} allow_connections true`);
    await waitFor(() => expect([one.hints.isConnected(), two.hints.isConnected()]).toEqual([true, true]));
    one.hints.publish(stop('r2'));
    await waitFor(() => expect(two.heard).toContainEqual(stop('r2')));
  });

  it('pass over what strangers say on the channel', async () => {
    const database = connectPg(await newPostgresUrl());
    const { hints, heard } = open(database);
    await waitFor(() => expect(hints.isConnected()).toBe(true));
    await database.query('select pg_notify($1, $2)::text', [hints.channel, 'hello']);
    hints.publish(stop('r1'));
    await waitFor(() => expect(heard).toEqual([stop('r1')]));
  });

  it('stay in the process where the server cannot be listened to', async () => {
    const { directUrl: _, ...database } = connectPg(await newPostgresUrl());
    const { hints, heard } = open(database);
    hints.publish(stop('r1'));
    await waitFor(() => expect(heard).toEqual([stop('r1')]));
    expect(hints.isConnected()).toBe(false);
  });

  it('stay in the process behind a pooler that takes a LISTEN and passes nothing on', async () => {
    const directUrl = await newPostgresUrl();
    const database = connectPg(await newPostgresUrl(), { directUrl });
    const { hints, heard } = open(database);
    hints.publish(stop('r1'));
    await waitFor(() => expect(heard).toEqual([stop('r1')]));
    const listening = `select pid from pg_stat_activity
      where application_name = 'intertie hints' and query like 'listen%' and datname = $1`;
    const directName = new URL(directUrl).pathname.slice(1);
    await waitFor(async () => expect(await database.query(listening, [directName])).not.toEqual([]));
    expect(hints.isConnected()).toBe(false);
    hints.publish(stop('r2'));
    await waitFor(() => expect(heard).toEqual([stop('r1'), stop('r2')]));
  });

  it('stay in the process on PGlite, where there is no other', async () => {
    const { hints, heard } = open(await openPglite());
    hints.publish(stop('r1'));
    await waitFor(() => expect(heard).toEqual([stop('r1')]));
    expect(hints.isConnected()).toBe(true);
  });

  it('have a channel per database schema, whose name is never too long', () => {
    const database = { embedded: true } as Database;
    const channelOf = (schema: string): string => createHints({ ...database, schema }).channel;
    expect(channelOf('intertie')).toBe('intertie');
    expect(channelOf('x'.repeat(63))).toMatch(/^intertie_[0-9a-f]{32}$/);
    expect(channelOf('a')).not.toBe(channelOf('b'));
  });

  it('can be closed while the server is stopped', async () => {
    const url = await newPostgresUrl();
    const { url: directUrl } = await startStoppedServer(url);
    const database = connectPg(url, { directUrl });
    onTestFinished(() => database.close());
    const hints = createHints(database, { timeoutMs: 500 });
    hints.subscribe(() => {});
    await waitFor(() => expect(hints.isConnected()).toBe(true));
    await expect(hints.close()).resolves.toBeUndefined();
  });

  it('can be closed while the connection is being made', async () => {
    const database = connectPg(await newPostgresUrl());
    const hints = createHints(database);
    hints.subscribe(() => {});
    await hints.close();
    expect(hints.isConnected()).toBe(false);
    await database.close();
  });
});
