import { DatabaseUnavailableError } from '@intertie/core';

import type { Database } from './database.ts';
import type { DrizzleDatabase, PgPool } from './drivers.ts';
import { useDrizzle } from './drizzle-database.ts';
import { migrate, requireSchema } from './migrate.ts';
import { connectPg, usePgPool, type PgDatabaseOptions } from './pg-database.ts';
import { openFolder } from './pglite-folder.ts';
import { PostgresMemoryStore, type PostgresStoreOptions } from './postgres-store.ts';

export type CreateStoreOptions = PostgresStoreOptions & {
  /** URL of a Postgres server: `postgres://…`. */
  url?: string;
  /** Alternative to `url`: your own `pg` pool. The store does not close it. */
  pool?: PgPool;
  /** Alternative to `url`: your own Drizzle database. The store does not close it. */
  db?: DrizzleDatabase;
  /** Alternative to `url`: a folder for an embedded PGlite database, which only this process can use. */
  folder?: string;
  /** URL that bypasses a pooler such as PgBouncer, for LISTEN. Default: `url`, or no LISTEN for a pool of your own. */
  directUrl?: string;
  /**
   * Whether to use named prepared statements for frequent queries, so that the server plans each once per connection. Default:
   * only on direct connections to the server. Set it to true for a pooler that supports them (PgBouncer with
   * `max_prepared_statements`).
   */
  prepare?: boolean;
  /** Database schema of the tables. Default: `intertie`. */
  schema?: string;
  /** Whether to apply migrations. If false, opening fails while migrations are pending. Default: true. */
  migrate?: boolean;
};

/**
 * Opens a store on the server of a URL, on a pool or a Drizzle database, or in a folder. Without a target it uses the URL or
 * folder in DATABASE_URL (and DATABASE_DIRECT_URL to bypass a pooler), or the folder `.intertie`.
 */
export async function createStore(target: string | CreateStoreOptions = {}): Promise<PostgresMemoryStore> {
  const options = withDefault(typeof target === 'string' ? fromText(target) : target);
  const database = await open(options);
  try {
    if (!database.embedded || options.db) {
      await (options.migrate === false ? requireSchema(database) : migrate(database));
    }
    return PostgresMemoryStore.on(database, options);
  } catch (error) {
    await database.close();
    throw unreachable(error, options) ?? error;
  }
}

/** Parses a Postgres URL or the path of a folder. */
function fromText(target: string): CreateStoreOptions {
  if (/^postgres(ql)?:/.test(target)) return { url: target };
  if (target === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(target)) {
    const scheme = target.split(':')[0];
    throw new TypeError(
      `Cannot open a store at "${scheme}${scheme && '://…'}". Pass postgres://user@host/database, or the path of a folder.`,
    );
  }
  return { folder: target };
}

function withDefault(options: CreateStoreOptions): CreateStoreOptions {
  const given = (['url', 'pool', 'db', 'folder'] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1) {
    throw new TypeError(`createStore received ${given.join(' and ')}. Pass only one of them.`);
  }
  if (given.length === 1) return options;
  const { DATABASE_URL: target, DATABASE_DIRECT_URL: directUrl } = process.env;
  return { ...(directUrl && { directUrl }), ...options, ...fromText(target || '.intertie') };
}

async function open(options: CreateStoreOptions): Promise<Database> {
  const { url, pool, db, folder, schema, prepare, directUrl } = options;
  const inDatabase: PgDatabaseOptions = {
    ...(schema !== undefined && { schema }),
    ...(prepare !== undefined && { prepare }),
    ...(directUrl !== undefined && { directUrl }),
  };
  if (url !== undefined) return connectPg(url, inDatabase);
  if (pool) return usePgPool(pool, inDatabase);
  if (db) return useDrizzle(db, inDatabase);
  return openFolder(folder!, schema === undefined ? {} : { schema });
}

/** Adds the server's address and a fix to the error of the driver. */
function unreachable(error: unknown, { url }: CreateStoreOptions): Error | undefined {
  if (!(error instanceof DatabaseUnavailableError) || !url || !URL.canParse(url)) return undefined;
  const { host, pathname } = new URL(url);
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  const text = `No Postgres server answers at ${host} for database "${pathname.slice(1)}" (${code ?? message}).`;
  const fix = 'Start it or correct the URL, or pass the path of a folder for an embedded database.';
  return new DatabaseUnavailableError(`${text} ${fix}`, { cause: error.cause });
}
