/** What the store needs of the database drivers that it can be given. Their own types need packages that not all have. */

/** A connection of a `pg` pool. */
export interface PgConnection {
  /** The server's process, as whoever took the connection has said. */
  readonly processID?: number | null;
  query(query: {
    text: string;
    values?: unknown[];
    name?: string;
    types?: { getTypeParser(oid: number): (text: string) => unknown };
    query_timeout?: number;
  }): Promise<{ rows: unknown[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  release(broken?: boolean): void;
}

/** A `Pool` of `pg`. */
export interface PgPool {
  connect(): Promise<PgConnection>;
  on?(event: 'connect', listener: (client: Pick<PgConnection, 'on'>) => void): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

type PgliteQuery = (
  text: string,
  values: unknown[],
  options: { parsers: Record<number, (text: string) => unknown> },
) => Promise<{ rows: unknown[] }>;

/** A `PGlite`. */
export interface Pglite {
  query: PgliteQuery;
  transaction<Result>(work: (transaction: { query: PgliteQuery }) => Promise<Result>): Promise<Result>;
}

/** A database of Drizzle, whatever driver is below it. */
export interface DrizzleDatabase {
  execute(query: unknown): PromiseLike<unknown>;
  transaction<Result>(
    work: (transaction: Pick<DrizzleDatabase, 'execute'>) => Promise<Result>,
    config?: { isolationLevel?: 'read committed' },
  ): Promise<Result>;
}
