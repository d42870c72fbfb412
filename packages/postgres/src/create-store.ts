import { DatabaseAwayError } from '@intertie/core';

import type { Database } from './database.ts';
import type { DrizzleDatabase, PgPool } from './drivers.ts';
import { useDrizzle } from './drizzle-database.ts';
import { migrate, requireSchema } from './migrate.ts';
import { connectPg, usePgPool, type PgDatabaseOptions } from './pg-database.ts';
import { openFolder } from './pglite-folder.ts';
import { PostgresMemoryStore, type PostgresStoreOptions } from './postgres-store.ts';

export type CreateStoreOptions = PostgresStoreOptions & {
  /** A Postgres server: `postgres://…`. */
  url?: string;
  /** Or a pool of `pg` of your own, which you also close. */
  pool?: PgPool;
  /** Or a Drizzle database of your own, which you also close. */
  db?: DrizzleDatabase;
  /** Or a folder, in which PGlite keeps an embedded database of this one process. */
  folder?: string;
  /** A URL past a pooler such as PgBouncer, for LISTEN; without one, the server's own or none. */
  directUrl?: string;
  /**
   * Whether frequent statements have names, so that a server plans each once per connection. Unless given: on every connection that
   * leads to the server itself. Behind a pooler that knows of them (PgBouncer with \`max_prepared_statements\`): true.
   */
  prepare?: boolean;
  /** The database schema for our tables; `intertie` unless given. */
  schema?: string;
  /** Whether migrations are applied; true unless given. If not, and they are needed, opening fails and says so. */
  migrate?: boolean;
};

/**
 * Opens a store: on the server of a URL, on a pool or a Drizzle database, or in a folder. Without any of them: on the
 * server or in the folder of DATABASE_URL (with DATABASE_DIRECT_URL past a pooler), or else in the folder `.intertie`.
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

/** Reads a Postgres URL or the path of a folder. */
function fromText(target: string): CreateStoreOptions {
  if (/^postgres(ql)?:/.test(target)) return { url: target };
  if (target === '' || /^[a-z][a-z0-9+.-]+:\/\//i.test(target)) {
    const scheme = target.split(':')[0];
    throw new TypeError(
      `A store cannot be opened at "${scheme}${scheme && '://…'}". Pass postgres://user@host/database, or the path of a folder.`,
    );
  }
  return { folder: target };
}

function withDefault(options: CreateStoreOptions): CreateStoreOptions {
  const given = (['url', 'pool', 'db', 'folder'] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1) {
    throw new TypeError(`createStore was given ${given.join(' and ')}. A store is in one place: choose one of them.`);
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

/** Adds the server's address and a fix, which the driver's error lacks. */
function unreachable(error: unknown, { url }: CreateStoreOptions): Error | undefined {
  if (!(error instanceof DatabaseAwayError) || !url || !URL.canParse(url)) return undefined;
  const { host, pathname } = new URL(url);
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  const text = `No Postgres server answers at ${host} for database "${pathname.slice(1)}" (${code ?? message}).`;
  const fix = 'Start it or correct the URL, or pass the path of a folder for an embedded database.';
  return new DatabaseAwayError(`${text} ${fix}`, { cause: error.cause });
}
