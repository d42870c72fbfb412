import { DatabaseAwayError } from '@intertie/core';
import type { ConnectionCounts } from '@intertie/core/store';

import type { JsonList } from './json-list.ts';

/**
 * What a statement takes. JSON goes in as text (`$1::text::json`), a uuid as text (`$1::text::uuid`), lists as arrays, and
 * long lists of JSON as a `JsonList` (`$1::json[]`).
 */
export type SqlValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | ReadonlyArray<string | number | boolean | null>
  | JsonList;

/** What a statement gives, whatever the driver: see `Sql`. */
export type SqlRow = { [column: string]: string | number | boolean | Uint8Array | null };

/**
 * Runs statements. They name tables as `intertie.threads`; where the store has another database schema, that is put in
 * its place. Every column of a result is a text, an int4, a float8, a boolean or a bytea: everything else is cast (a json
 * to text, a bigint to float8, a time to milliseconds with `extract(epoch from at) * 1000`), because drivers and their
 * users disagree about how to read the rest.
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
   * A connection may keep the plan. Only for statements that are frequent, and whose plan is the same whatever the tables
   * hold: one that was made for empty tables lasts until the server next looks at them.
   */
  keepPlan?: true;
};

export type TransactionOptions = {
  /** For long work such as migrations: statements have no time limit. TCP keep-alive detects a dead connection. */
  patient?: true;
};

export interface SqlPool extends Sql {
  /**
   * One transaction, READ COMMITTED whatever the database's default: the guards of our statements wait for a lock and
   * then look again. `work` uses nothing but the `Sql` it is given, and awaits nothing else.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>, options?: TransactionOptions): Promise<Result>;
}

/** Where the store's tables are. */
export interface Database extends SqlPool {
  /** Connections that requests cannot starve, for flushes, heartbeats and ends of runs. */
  readonly hot: SqlPool;
  /** The database schema that holds our tables. */
  readonly schema: string;
  /** PGlite: the database lives in this process, and nobody else can change it. */
  readonly embedded: boolean;
  /** A URL for a connection with a session of its own, as LISTEN needs. Absent where none may be opened. */
  readonly directUrl?: string;
  /** See `Store`. */
  refusedWrite?(): Error | undefined;
  /** Connections of each pool. Absent where there is no pool, or where it does not count them. */
  connections?(): { readonly [pool: string]: ConnectionCounts };
  close(): Promise<void>;
}

export const defaultSchema = 'intertie';

/** The statement, for a database schema of another name. */
export function inSchema(text: string, schema: string): string {
  return schema === defaultSchema ? text : text.replaceAll(/\bintertie\./g, `${quoteIdentifier(schema)}.`);
}

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The SQLSTATE of an error of the database, whatever the driver wraps around it. */
export function sqlState(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    // Codes of Node may have five letters too (EPIPE). No class of SQLSTATE starts with E.
    if (typeof code === 'string' && /^(?!E)[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}

/**
 * SQLSTATEs of a server that is away or accepts no writes: connection exceptions (08), insufficient resources such as a full
 * disk (53), shutdown and startup (57P), read-only after a failover (25006), and I/O errors (58030).
 */
const awayStates = /^(?:08|53|57P|25006|58030)/;

/** Turns the error of a driver into a `DatabaseAwayError` unless the server has rejected the statement itself. */
export function toDatabaseError(error: unknown): unknown {
  if (error instanceof DatabaseAwayError || error instanceof TypeError) return error;
  const state = sqlState(error);
  const isAway = state === undefined ? !isClosedByUs(error) : awayStates.test(state);
  return isAway ? new DatabaseAwayError(undefined, { cause: error }) : error;
}

/** How long a refused write counts. Runs that cannot write try again every second. */
const refusalMs = 5_000;

/** Remembers the last write that a reachable server refused: full disk, out of resources, read-only, or an I/O error. */
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

/** The program has closed its own pool: waiting does not bring it back. */
function isClosedByUs(error: unknown): boolean {
  return error instanceof Error && error.message.includes('after calling end on the pool');
}

const serializationFailure = '40001';

/**
 * A single statement takes the database's default isolation, where a guard that had to wait fails instead of looking
 * again. Nothing has happened then, so it is done in a transaction of ours.
 */
export async function orPinned<Row extends SqlRow>(
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
