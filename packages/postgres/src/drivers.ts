/** Minimal interfaces of the supported drivers. Their own types would require packages that users may not have installed. */

/** A connection of a `pg` pool. */
export interface PgConnection {
  /** Server process id that was sent when the connection was opened. */
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

/** A Drizzle database on any driver. */
export interface DrizzleDatabase {
  execute(query: unknown): PromiseLike<unknown>;
  transaction<Result>(
    work: (transaction: Pick<DrizzleDatabase, 'execute'>) => Promise<Result>,
    config?: { isolationLevel?: 'read committed' },
  ): Promise<Result>;
}
