import type { ConnectionCounts } from '@intertie/core';
import pg from 'pg';

import {
  defaultSchema,
  inSchema,
  orPinned,
  sqlState,
  type Database,
  type QueryOptions,
  type Sql,
  type SqlPool,
  type SqlRow,
  type SqlValue,
} from './database.ts';
import type { PgConnection, PgPool } from './drivers.ts';
import { JsonList } from './json-list.ts';

export type PgDatabaseOptions = {
  /** The database schema that holds our tables; `intertie` unless given. */
  schema?: string;
  /**
   * Names frequent statements, so that the server plans each once per connection. Unless given: on connections of our own
   * that lead to the server itself. Not every pooler knows of it, and what a pool of the user's own does with a session is not ours.
   */
  prepare?: boolean;
  /** A URL past a pooler, for LISTEN. */
  directUrl?: string;
};

type Timeouts = { statementMs: number; lockMs: number };

const requestTimeouts: Timeouts = { statementMs: 30_000, lockMs: 10_000 };
const hotTimeouts: Timeouts = { statementMs: 5000, lockMs: 2000 };

/** A server behind a URL: two connections for what must not wait, eight for requests. */
export function connectPg(url: string, options: PgDatabaseOptions = {}): Database {
  const open = (max: number): pg.Pool => {
    const pool = new pg.Pool({ connectionString: url, max, application_name: 'intertie' });
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    pool.on('error', ignore);
    return pool;
  };
  const [hot, requests] = [open(2), open(8)];
  return {
    ...describe(options),
    directUrl: options.directUrl ?? url,
    ...poolOf(requests, options, requestTimeouts),
    hot: poolOf(hot, options, hotTimeouts),
    connections: () => ({ hot: countConnections(hot), requests: countConnections(requests) }),
    close: async () => void (await Promise.all([hot.end(), requests.end()])),
  };
}

/** A pool of the user's own, who also closes it. */
export function usePgPool(pool: PgPool, options: PgDatabaseOptions = {}): Database {
  const careful = { ...options, prepare: options.prepare ?? false };
  return {
    ...describe(options),
    ...(options.directUrl !== undefined && { directUrl: options.directUrl }),
    ...poolOf(pool, careful, requestTimeouts),
    hot: poolOf(pool, careful, hotTimeouts),
    ...(isCounting(pool) && { connections: () => ({ shared: countConnections(pool) }) }),
    close: () => Promise.resolve(),
  };
}

type CountingPool = Pick<pg.Pool, 'totalCount' | 'idleCount' | 'waitingCount'>;

function isCounting(pool: PgPool): pool is PgPool & CountingPool {
  return 'totalCount' in pool && 'idleCount' in pool && 'waitingCount' in pool;
}

function countConnections({ totalCount, idleCount, waitingCount }: CountingPool): ConnectionCounts {
  return { total: totalCount, idle: idleCount, waiting: waitingCount };
}

function describe({ schema = defaultSchema }: PgDatabaseOptions): { schema: string; embedded: false } {
  return { schema, embedded: false };
}

function poolOf(pool: PgPool, options: PgDatabaseOptions, timeouts: Timeouts): SqlPool {
  const on = (client: PgConnection, timeoutMs: number): Sql => ({
    query: async <Row extends SqlRow>(
      statement: string,
      values: readonly SqlValue[] = [],
      { keepPlan }: QueryOptions = {},
    ) => {
      const text = inSchema(statement, options.schema ?? defaultSchema);
      const isNamed = keepPlan && (options.prepare ?? leadToServer.get(client));
      const { rows } = await client.query({
        text,
        values: values.map((value) => (value instanceof JsonList ? toList(client, value) : value)),
        types,
        ...(isNamed && { name: nameOf(text) }),
        ...(timeoutMs > 0 && { query_timeout: timeoutMs }),
      });
      return rows as Row[];
    },
  });

  const use = <Result>(work: (client: PgConnection) => Promise<Result>): Promise<Result> =>
    withClient(pool, async (client) => {
      if (options.prepare === undefined && !leadToServer.has(client)) leadToServer.set(client, await isDirect(client));
      return work(client);
    });

  const transaction: SqlPool['transaction'] = (work, { patient } = {}) =>
    use(async (client) => {
      // The server's timeouts, for this transaction alone: behind a pooler nothing may outlive it. The client's own, a
      // little later, is for a server that does not answer at all.
      const limits = patient
        ? 'set local statement_timeout = 0; set local lock_timeout = 0'
        : `set local statement_timeout = ${timeouts.statementMs}; set local lock_timeout = ${timeouts.lockMs}`;
      await command(client, `begin isolation level read committed; ${limits}`);
      try {
        const result = await work(on(client, patient ? 0 : timeouts.statementMs + 1000));
        await command(client, 'commit');
        return result;
      } catch (error) {
        // A broken connection is thrown away, and the server rolls back by itself.
        if (!isBroken(error)) await command(client, 'rollback').catch(ignore);
        throw error;
      }
    });

  const pinned: SqlPool = {
    query: (text, values = [], how = {}) =>
      orPinned(pinned, text, values, () => use((client) => on(client, timeouts.statementMs).query(text, values, how))),
    transaction,
  };
  return pinned;
}

/** Whether a connection is one with the server itself, or with a pooler, as far as it has been asked. */
const leadToServer = new WeakMap<PgConnection, boolean>();

/**
 * A pooler lends one process of the server after the other to a connection, so the process that greeted us is none of
 * them, while a proxy that only passes bytes on changes nothing. A pooler of one session per connection is taken for the
 * other kind, which costs no more than the names of statements.
 */
async function isDirect(client: PgConnection): Promise<boolean> {
  if (!client.processID) return false;
  const { rows } = await client.query({ text: 'select pg_backend_pid() as pid', types });
  return (rows as Array<{ pid: number }>)[0]?.pid === client.processID;
}

/** The library that `pg` can be built on knows no bytes but those of files. */
function toList(client: PgConnection, list: JsonList): Uint8Array | string {
  return 'native' in client ? list.toText() : list.toBytes();
}

/** Without values, so that it may be several statements. */
async function command(client: PgConnection, text: string): Promise<void> {
  await client.query({ text });
}

function ignore(): void {}

async function withClient<Result>(pool: PgPool, use: (client: PgConnection) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  // A connection that breaks while it is ours fails the statement; without a listener it would end the process, too.
  client.on('error', ignore);
  let broken = false;
  try {
    return await use(client);
  } catch (error) {
    broken = isBroken(error);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

/** Whether the connection is of no use any more: the error is not the server's answer to a statement, or it is "goodbye". */
function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? !isOurs(error) : /^(08|57P)/.test(state);
}

/** An error that `work` has thrown after all of its statements were answered. */
function isOurs(error: unknown): boolean {
  return error instanceof Error && error.name === 'StoreError';
}

/** The five kinds of value that statements give (see `Sql`), whatever parsers the program has set for its own queries. */
const types = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? ((text: string) => text),
};
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [23, Number],
  [701, Number],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
]);

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `intertie_${names.size + 1}`));
  return name;
}
