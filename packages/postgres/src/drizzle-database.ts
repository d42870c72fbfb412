import { importOptional } from '@intertie/core/internal';
import type { SQL } from 'drizzle-orm';

import {
  defaultSchema,
  inSchema,
  retryInTransaction,
  toDatabaseError,
  type Database,
  type Sql,
  type SqlPool,
  type SqlRow,
  type SqlValue,
} from './database.ts';
import type { DrizzleDatabase, Pglite, PgPool } from './drivers.ts';
import { JsonArrayParameter } from './json-array-parameter.ts';
import { usePgPool, type PgDatabaseOptions } from './pg-database.ts';
import { usePglite } from './pglite-database.ts';

/** Uses a Drizzle database of the user, who also closes it. Uses the driver below it directly if it is known. */
export async function useDrizzle(db: DrizzleDatabase, options: PgDatabaseOptions = {}): Promise<Database> {
  const { schema = defaultSchema, directUrl } = options;
  const { $client: client } = db as { $client?: unknown };
  if (isPool(client)) return usePgPool(client, options);
  if (isPglite(client)) return usePglite(client, { schema });
  if (isSingleConnection(client)) {
    const text = 'The Drizzle database has a single connection, on which concurrent transactions would interleave.';
    throw new TypeError(`${text} Create it with a pool: drizzle(new pg.Pool(…)).`);
  }
  const { sql } = await importOptional(() => import('drizzle-orm'), { title: 'Drizzle', name: 'drizzle-orm' });
  const pool = createDrizzlePool(db, schema, sql);
  return {
    ...pool,
    hot: pool,
    schema,
    embedded: false,
    ...(directUrl !== undefined && { directUrl }),
    close: () => Promise.resolve(),
  };
}

type CreateSql = typeof import('drizzle-orm').sql;

function createDrizzlePool(db: DrizzleDatabase, schema: string, sql: CreateSql): SqlPool {
  const on = (target: Pick<DrizzleDatabase, 'execute'>): Sql => ({
    query: async <Row extends SqlRow>(text: string, values: readonly SqlValue[] = []) => {
      try {
        return readRows<Row>(await target.execute(toDrizzle(sql, inSchema(text, schema), values)));
      } catch (error) {
        throw toDatabaseError(error);
      }
    },
  });
  const single = on(db);
  const pool: SqlPool = {
    query: (text, values = []) => retryInTransaction(pool, text, values, () => single.query(text, values)),
    transaction: (work) => db.transaction((tx) => work(on(tx)), { isolationLevel: 'read committed' }),
  };
  return pool;
}

/** Builds a Drizzle query with the values in place of `$1`, `$2` and so on. */
function toDrizzle(sql: CreateSql, text: string, values: readonly SqlValue[]): SQL {
  const pieces = text.split(/\$(\d+)/);
  return sql.join(
    pieces.map((piece, index) =>
      index % 2 === 0 ? sql.raw(piece) : sql`${sql.param(toParam(values[Number(piece) - 1]))}`,
    ),
  );
}

function toParam(value: SqlValue | undefined): unknown {
  return value instanceof JsonArrayParameter ? value.toText() : value;
}

/** Drivers return an array of rows, or an object with one. */
function readRows<Row>(result: unknown): Row[] {
  return Array.isArray(result) ? [...(result as Row[])] : (result as { rows: Row[] }).rows;
}

function isPool(client: unknown): client is PgPool {
  return has(client, 'connect', 'function') && has(client, 'totalCount', 'number');
}

function isPglite(client: unknown): client is Pglite {
  return has(client, 'dumpDataDir', 'function') && has(client, 'transaction', 'function');
}

function isSingleConnection(client: unknown): boolean {
  return has(client, 'connect', 'function') && has(client, 'escapeIdentifier', 'function');
}

function has(value: unknown, name: string, type: string): boolean {
  return value !== null && value !== undefined && typeof (value as Record<string, unknown>)[name] === type;
}
