import { DatabaseUnavailableError } from '@intertie/core';
import type { ConnectionCounts } from '@intertie/core/store';
import pg from 'pg';

import {
  defaultSchema,
  inSchema,
  retryInTransaction,
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
import { JsonArrayParameter } from './json-array-parameter.ts';

export type PgDatabaseOptions = {
  /** Database schema of the tables. Default: `intertie`. */
  schema?: string;
  /**
   * Whether to use named prepared statements for frequent queries, so that the server plans each once per connection. Default:
   * only on our own, direct connections to the server. Not every pooler supports them, and a pool of the user may reset sessions.
   */
  prepare?: boolean;
  /** URL that bypasses a pooler, for LISTEN. */
  directUrl?: string;
  /** Overrides the timeouts of all pools. */
  timeouts?: Partial<Timeouts>;
};

export type Timeouts = {
  /** Maximum duration of one statement, and of a commit. */
  statementMs: number;
  /** Maximum time that a statement waits for a lock. */
  lockMs: number;
  /** Maximum duration of `begin`, `rollback`, and the first statement on a new connection. */
  controlMs: number;
  /** Maximum time to get a connection from the pool, including opening it. */
  connectMs: number;
};

const requestTimeouts: Timeouts = { statementMs: 30_000, lockMs: 10_000, controlMs: 5_000, connectMs: 10_000 };
const hotTimeouts: Timeouts = { statementMs: 5_000, lockMs: 2_000, controlMs: 5_000, connectMs: 5_000 };

/** Added to the client-side timeout, so that the error of the server arrives first. */
const marginMs = 1_000;

/** Detects a dead idle connection: 10 s of idleness, then ten probes, one per second. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** Connects to the server of a URL: two connections for flushes and heartbeats, eight for requests. */
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
    return [pool, createSqlPool(pool, options, limits, refusals), createEnd(pool, limits.controlMs)];
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
 * Returns the function that ends the pool. It destroys connections after a time limit: a server that does not answer does not
 * close its side, which would keep the process alive.
 */
function createEnd(pool: pg.Pool, timeoutMs: number): () => Promise<void> {
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

/** Uses a pool of the user, who also closes it. */
export function usePgPool(pool: PgPool, options: PgDatabaseOptions = {}): Database {
  const poolOptions = { ...options, prepare: options.prepare ?? false };
  const refusals = new WriteRefusals();
  return {
    ...describe(options),
    ...(options.directUrl !== undefined && { directUrl: options.directUrl }),
    ...createSqlPool(pool, poolOptions, { ...requestTimeouts, ...options.timeouts }, refusals),
    hot: createSqlPool(pool, poolOptions, { ...hotTimeouts, ...options.timeouts }, refusals),
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

function createSqlPool(pool: PgPool, options: PgDatabaseOptions, timeouts: Timeouts, refusals: WriteRefusals): SqlPool {
  const { statementMs, lockMs, controlMs, connectMs } = timeouts;
  handleErrors(pool);
  const on = (client: PgConnection, timeoutMs: number): Sql => ({
    query: async <Row extends SqlRow>(
      statement: string,
      values: readonly SqlValue[] = [],
      { prepare }: QueryOptions = {},
    ) => {
      const text = inSchema(statement, options.schema ?? defaultSchema);
      const isPrepared = prepare && (options.prepare ?? isDirectConnection.get(client));
      try {
        const { rows } = await client.query({
          text,
          values: values.map((value) => (value instanceof JsonArrayParameter ? toArray(client, value) : value)),
          types,
          ...(isPrepared && { name: getStatementName(text) }),
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
      if (options.prepare === undefined && !isDirectConnection.has(client)) {
        isDirectConnection.set(client, await checkDirect(client, controlMs));
      }
      return work(client);
    });

  const transaction: SqlPool['transaction'] = (work, { noTimeout } = {}) =>
    use(async (client) => {
      // `set local`, because behind a pooler a setting must not outlive the transaction. The client-side timeouts are for a
      // server that does not answer at all.
      const limits = noTimeout
        ? 'set local statement_timeout = 0; set local lock_timeout = 0'
        : `set local statement_timeout = ${statementMs}; set local lock_timeout = ${lockMs}`;
      await command(client, `begin isolation level read committed; ${limits}`, controlMs);
      try {
        const result = await work(on(client, noTimeout ? 0 : statementMs + marginMs));
        await command(client, 'commit', statementMs + marginMs);
        return result;
      } catch (error) {
        // The server rolls back a broken connection. If the rollback is not answered either, the connection is unusable.
        if (!isBroken(error)) await command(client, 'rollback', controlMs).catch(() => unusable.add(client));
        throw error;
      }
    });

  const sqlPool: SqlPool = {
    query: (text, values = [], query = {}) =>
      retryInTransaction(sqlPool, text, values, () =>
        use((client) => on(client, statementMs).query(text, values, query)),
      ),
    transaction,
  };
  return sqlPool;
}

/** Whether a connection leads to the server itself, for connections that were checked. */
const isDirectConnection = new WeakMap<PgConnection, boolean>();

/**
 * Whether the connection leads to the server itself and not to a pooler. A pooler switches between server processes, so
 * the process id it announced is none of theirs. A TCP proxy changes nothing. A session-mode pooler counts as a pooler, which
 * only disables prepared statements.
 */
async function checkDirect(client: PgConnection, timeoutMs: number): Promise<boolean> {
  if (!client.processID) return false;
  const query = { text: 'select pg_backend_pid() as pid', types, query_timeout: timeoutMs };
  try {
    const { rows } = await client.query(query);
    return (rows as Array<{ pid: number }>)[0]?.pid === client.processID;
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** `pg-native` cannot pass binary parameters other than bytea. */
function toArray(client: PgConnection, list: JsonArrayParameter): Uint8Array | string {
  return 'native' in client ? list.toText() : list.toBytes();
}

/** Runs one or more statements without parameters. */
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
 * Adds `error` listeners, because an `error` event without one ends the process. The pool emits it for an idle connection that
 * breaks, which it replaces. A connection needs a listener immediately: the server's last message may arrive with the first,
 * before `connect` has returned the connection.
 */
function handleErrors(pool: PgPool): void {
  if (handled.has(pool)) return;
  handled.add(pool);
  pool.on?.('error', ignore);
  pool.on?.('connect', (client) => void client.on('error', ignore));
}

/** Connections that must not return to the pool although the error of the caller does not show that they are broken. */
const unusable = new WeakSet<PgConnection>();

async function withClient<Result>(
  pool: PgPool,
  connectMs: number,
  use: (client: PgConnection) => Promise<Result>,
): Promise<Result> {
  const client = await connect(pool, connectMs);
  // For connections that the user's pool opened before it was passed to us.
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

/** Gets a connection from the pool within a time limit, which a pool of the user may not have. */
async function connect(pool: PgPool, timeoutMs: number): Promise<PgConnection> {
  const connecting = pool.connect();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const expire = (): void => {
      // A connection that arrives later returns to the pool.
      connecting.then((client) => client.release(), ignore);
      reject(new DatabaseUnavailableError(`The pool had no free database connection within ${timeoutMs} ms.`));
    };
    // Slightly later than the limit of our own pool, which also destroys the connection that does not open.
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

/** Whether the connection is unusable: the error is not a reply to a statement, or it announces a shutdown. */
function isBroken(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? !isOurs(error) : /^(08|57P)/.test(state);
}

/** Whether `work` threw the error itself, after all of its statements were answered. */
function isOurs(error: unknown): boolean {
  return error instanceof Error && error.name === 'StoreError';
}

/** Parsers for the result types of `Sql`, independent of the global type parsers of `pg`. */
const types = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? ((text: string) => text),
};
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [23, Number],
  [701, Number],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
]);

/** Names of prepared statements by text. */
const names = new Map<string, string>();

function getStatementName(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `intertie_${names.size + 1}`));
  return name;
}
