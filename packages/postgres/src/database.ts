import { DatabaseUnavailableError } from '@intertie/core';
import type { ConnectionCounts } from '@intertie/core/store';

import type { JsonArrayParameter } from './json-array-parameter.ts';

/**
 * Parameter of a statement. Pass JSON as text (`$1::text::json`), a uuid as text (`$1::text::uuid`), lists as arrays, and
 * long lists of JSON as a `JsonArrayParameter` (`$1::json[]`).
 */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | ReadonlyArray<string | number | boolean | null>
  | JsonArrayParameter;

/** Result row. See `Sql` for the column types. */
export type SqlRow = { [column: string]: string | number | boolean | Uint8Array | null };

/**
 * Executes statements. They name tables as `intertie.threads`; the schema is replaced if the store uses another one. Every
 * result column must be a text, an int4, a float8, a boolean or a bytea. Cast anything else (json to text, bigint to float8,
 * a time to milliseconds with `extract(epoch from at) * 1000`), because drivers parse other types differently and can be
 * configured to.
 */
export interface Sql {
  query<Row extends SqlRow = SqlRow>(
    text: string,
    values?: readonly SqlValue[],
    options?: QueryOptions,
  ): Promise<Row[]>;
}

export type QueryOptions = {
  /**
   * Uses a named prepared statement, whose plan the connection caches. Only for frequent statements whose plan does not depend
   * on the contents of the tables: a plan for empty tables is used until the server analyzes them again.
   */
  prepare?: true;
};

export type TransactionOptions = {
  /** Disables statement timeouts, for long work such as migrations. TCP keep-alive detects a dead connection. */
  noTimeout?: true;
};

export interface SqlPool extends Sql {
  /**
   * Runs a transaction with isolation level READ COMMITTED, whatever the default of the database: our statements wait for a
   * lock and then read the current row. `work` must not wait for anything but the given `Sql`.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
}

/** Access to the store's tables. */
export interface Database extends SqlPool {
  /** Separate connections for flushes, heartbeats and ends of runs, so that requests cannot starve them. */
  readonly hot: SqlPool;
  /** Database schema of the tables. */
  readonly schema: string;
  /** True for PGlite: the database runs in this process and no other process can change it. */
  readonly embedded: boolean;
  /** URL for a connection with its own session, which LISTEN needs. Absent if none may be opened. */
  readonly directUrl?: string;
  /** See `Store`. */
  refusedWrite?(): Error | undefined;
  /** Connection counts per pool. Absent if there is no pool, or if it does not count. */
  connections?(): { readonly [pool: string]: ConnectionCounts };
  close(): Promise<void>;
}

export const defaultSchema = 'intertie';

/** Replaces the schema `intertie` in a statement. */
export function inSchema(text: string, schema: string): string {
  return schema === defaultSchema ? text : text.replaceAll(/\bintertie\./g, `${quoteIdentifier(schema)}.`);
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Returns the SQLSTATE of a database error, even if a driver has wrapped it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    // Node error codes may also have five letters (EPIPE). No SQLSTATE class starts with E.
    if (typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/**
 * SQLSTATEs of a server that is unavailable or accepts no writes: connection exceptions (08), insufficient resources such as a
 * full disk (53), shutdown and startup (57P), read-only after a failover (25006), and I/O errors (58030).
 */
const awayStates = /^(?:08|53|57P|25006|58030)/;

/** Wraps a driver error in a `DatabaseUnavailableError` unless the server has rejected the statement itself. */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseUnavailableError || error instanceof TypeError) return error;
  const state = sqlState(error);
  const isAway = state === undefined ? !isClosedByUs(error) : awayStates.test(state);
  return isAway ? new DatabaseUnavailableError(undefined, { cause: error }) : error;
}

/** Time for which a refused write is reported. Runs that cannot write retry every second. */
const refusalMs = 5_000;

/** Stores the last write that a reachable server refused: full disk, out of resources, read-only, or an I/O error. */
export class WriteRefusals {
  #last: { error: Error; at: number } | undefined;

  note(error: unknown): void {
    const state = sqlState(error);
    if (state !== undefined && /^(?:53[124]|25006|58030)/.test(state)) {
      this.#last = { error: error as Error, at: performance.now() };
    }
  }

  recent(): Error | undefined {
    return this.#last && performance.now() - this.#last.at < refusalMs ? this.#last.error : undefined;
  }
}

/** The program itself has closed the pool, so retrying is pointless. */
function isClosedByUs(error: unknown): boolean {
  return error instanceof Error && error.message.includes('after calling end on the pool');
}

const serializationFailure = '40001';

/**
 * Runs a single statement, which uses the default isolation of the database. Under stricter isolation it fails with a
 * serialization error instead of waiting for a lock; nothing was written then, and it is repeated in a READ COMMITTED
 * transaction.
 */
export async function retryInTransaction<Row extends SqlRow>(
  pool: Pick<SqlPool, 'transaction'>,
  text: string,
  values: readonly SqlValue[],
  query: () => Promise<Row[]>,
): Promise<Row[]> {
  try {
    return await query();
  } catch (error) {
    if (sqlState(error) !== serializationFailure) throw error;
    return pool.transaction((sql) => sql.query<Row>(text, values));
  }
}
