import { DatabaseAwayError } from '@intertie/core';
import type { ConnectionCounts } from '@intertie/core/store';
import pg from 'pg';

import {
  defaultSchema,
  inSchema,
  orPinned,
  sqlState,
  toDatabaseError,
  WriteRefusals,
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
  /** Overrides time limits of all pools. */
  timeouts?: Partial<Timeouts>;
};

export type Timeouts = {
  /** Maximum duration of one statement, and of a commit. */
  statementMs: number;
  /** Maximum time that a statement waits for a lock. */
  lockMs: number;
  /** Maximum duration of statements that do no work: `begin`, `rollback`, and the first one on a new connection. */
  controlMs: number;
  /** Maximum time until the pool has a free connection, which includes opening it. */
  connectMs: number;
};

const requestTimeouts: Timeouts = { statementMs: 30_000, lockMs: 10_000, controlMs: 5_000, connectMs: 10_000 };
const hotTimeouts: Timeouts = { statementMs: 5_000, lockMs: 2_000, controlMs: 5_000, connectMs: 5_000 };

/** The client's limit of a statement is later than the server's by this, so that the server's error arrives first. */
const marginMs = 1_000;

/** Detects a dead connection that has nothing to send: 10 s of idleness, then ten probes, one per second. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** A server behind a URL: two connections for flushes and heartbeats, eight for requests. */
export function connectPg(url: string, options: PgDatabaseOptions = {}): Database {
  const refusals = new WriteRefusals();
  const open = (max: number, timeouts: Timeouts): [pg.Pool, SqlPool, () => Promise<void>] => {
    const limits = { ...timeouts, ...options.timeouts };
    const pool = new pg.Pool({
      connectionString: url,
      max,
      application_name: 'intertie',
      connectionTimeoutMillis: limits.connectMs,
      ...keepAlive,
    });
    return [pool, poolOf(pool, options, limits, refusals), endOf(pool, limits.controlMs)];
  };
  const [hot, hotSql, endHot] = open(2, hotTimeouts);
  const [requests, requestSql, endRequests] = open(8, requestTimeouts);
  return {
    ...describe(options),
    directUrl: options.directUrl ?? url,
    ...requestSql,
    hot: hotSql,
    refusedWrite: () => refusals.recent(),
    connections: () => ({ hot: countConnections(hot), requests: countConnections(requests) }),
    close: async () => void (await Promise.all([endHot(), endRequests()])),
  };
}

/**
 * Returns the function that ends the pool. A server that does not answer does not close its side of a connection, which would
 * keep the process alive, so such connections are destroyed after a time limit.
 */
function endOf(pool: pg.Pool, timeoutMs: number): () => Promise<void> {
  const clients = new Set<pg.PoolClient>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  pool.on('connect', (client) => void clients.add(client));
  pool.on('remove', (client) => {
    clients.delete(client);
    if (clients.size === 0) clearTimeout(timer);
  });
  return async () => {
    await pool.end();
    if (clients.size === 0) return;
    timer = setTimeout(() => {
      for (const { connection } of clients) connection.stream.destroy();
    }, timeoutMs);
  };
}

/** A pool of the user's own, who also closes it. */
export function usePgPool(pool: PgPool, options: PgDatabaseOptions = {}): Database {
  const careful = { ...options, prepare: options.prepare ?? false };
  const refusals = new WriteRefusals();
  return {
    ...describe(options),
    ...(options.directUrl !== undefined && { directUrl: options.directUrl }),
    ...poolOf(pool, careful, { ...requestTimeouts, ...options.timeouts }, refusals),
    hot: poolOf(pool, careful, { ...hotTimeouts, ...options.timeouts }, refusals),
    refusedWrite: () => refusals.recent(),
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

function poolOf(pool: PgPool, options: PgDatabaseOptions, timeouts: Timeouts, refusals: WriteRefusals): SqlPool {
  const { statementMs, lockMs, controlMs, connectMs } = timeouts;
  handleErrors(pool);
  const on = (client: PgConnection, timeoutMs: number): Sql => ({
    query: async <Row extends SqlRow>(
      statement: string,
      values: readonly SqlValue[] = [],
      { keepPlan }: QueryOptions = {},
    ) => {
      const text = inSchema(statement, options.schema ?? defaultSchema);
      const isNamed = keepPlan && (options.prepare ?? leadToServer.get(client));
      try {
        const { rows } = await client.query({
          text,
          values: values.map((value) => (value instanceof JsonList ? toList(client, value) : value)),
          types,
          ...(isNamed && { name: nameOf(text) }),
          ...(timeoutMs > 0 && { query_timeout: timeoutMs }),
        });
        return rows as Row[];
      } catch (error) {
        refusals.note(error);
        throw toDatabaseError(error);
      }
    },
  });

  const use = <Result>(work: (client: PgConnection) => Promise<Result>): Promise<Result> =>
    withClient(pool, connectMs, async (client) => {
      if (options.prepare === undefined && !leadToServer.has(client)) {
        leadToServer.set(client, await isDirect(client, controlMs));
      }
      return work(client);
    });

  const transaction: SqlPool['transaction'] = (work, { patient } = {}) =>
    use(async (client) => {
      // `set local`, because behind a pooler no setting may outlive the transaction. The client's own limits are for a
      // server that does not answer at all.
      const limits = patient
        ? 'set local statement_timeout = 0; set local lock_timeout = 0'
        : `set local statement_timeout = ${statementMs}; set local lock_timeout = ${lockMs}`;
      await command(client, `begin isolation level read committed; ${limits}`, controlMs);
      try {
        const result = await work(on(client, patient ? 0 : statementMs + marginMs));
        await command(client, 'commit', statementMs + marginMs);
        return result;
      } catch (error) {
        // The server rolls a broken connection back by itself. If it does not answer this either, the connection is unusable.
        if (!isBroken(error)) await command(client, 'rollback', controlMs).catch(() => unusable.add(client));
        throw error;
      }
    });

  const pinned: SqlPool = {
    query: (text, values = [], how = {}) =>
      orPinned(pinned, text, values, () => use((client) => on(client, statementMs).query(text, values, how))),
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
async function isDirect(client: PgConnection, timeoutMs: number): Promise<boolean> {
  if (!client.processID) return false;
  const query = { text: 'select pg_backend_pid() as pid', types, query_timeout: timeoutMs };
  try {
    const { rows } = await client.query(query);
    return (rows as Array<{ pid: number }>)[0]?.pid === client.processID;
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** The library that `pg` can be built on knows no bytes but those of files. */
function toList(client: PgConnection, list: JsonList): Uint8Array | string {
  return 'native' in client ? list.toText() : list.toBytes();
}

/** Runs text that may be several statements, since it has no values. */
async function command(client: PgConnection, text: string, timeoutMs: number): Promise<void> {
  try {
    await client.query({ text, query_timeout: timeoutMs });
  } catch (error) {
    throw toDatabaseError(error);
  }
}

function ignore(): void {}

const handled = new WeakSet<PgPool>();

/**
 * An `error` event without a listener ends the process. The pool emits one for an idle connection that breaks, which it
 * replaces. A connection needs a listener from its first moment: the server's last message may come with the greeting,
 * before `connect` has returned the connection.
 */
function handleErrors(pool: PgPool): void {
  if (handled.has(pool)) return;
  handled.add(pool);
  pool.on?.('error', ignore);
  pool.on?.('connect', (client) => void client.on('error', ignore));
}

/** Connections that must not go back to the pool although the caller's error does not show that they are broken. */
const unusable = new WeakSet<PgConnection>();

async function withClient<Result>(
  pool: PgPool,
  connectMs: number,
  use: (client: PgConnection) => Promise<Result>,
): Promise<Result> {
  const client = await connect(pool, connectMs);
  // For connections that the program's pool had opened before it was given to us.
  client.on('error', ignore);
  let broken = false;
  try {
    return await use(client);
  } catch (error) {
    broken = isBroken(error) || unusable.has(client);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

/** Takes a connection from the pool within a time limit, which a pool of the program may not have by itself. */
async function connect(pool: PgPool, timeoutMs: number): Promise<PgConnection> {
  const connecting = pool.connect();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const expire = (): void => {
      // A connection that comes later goes back to the pool.
      connecting.then((client) => client.release(), ignore);
      reject(new DatabaseAwayError(`The pool had no free database connection within ${timeoutMs} ms.`));
    };
    // A little later than the limit of our own pool, which also destroys the connection that does not open.
    timer = setTimeout(expire, timeoutMs + 100);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    clearTimeout(timer);
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
