import { quoteIdentifier, sqlState, type Database, type Sql } from './database.ts';
import { latestMigration, recordMigration, readMigrations, splitStatements, type Migration } from './migrations.ts';

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  /** `needed`: migrations are pending. `refused`: the tables are too new for this code. `forbidden`: missing privileges. */
  readonly code: 'needed' | 'refused' | 'forbidden';

  constructor(code: MigrationError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type State = { schema: number; minCode: number };

const hint = 'printMigrations() returns the statements for a database administrator.';

/** Checks that this code can work with the tables. Throws if they are too new; returns the number of pending migrations. */
export async function checkSchema(database: Database): Promise<{ pending: number }> {
  const { schema, minCode } = await readState(database, database.schema);
  if (minCode > latestMigration) {
    const text =
      `The tables in database schema "${database.schema}" are at migration ${schema} and require code that knows ` +
      `migration ${minCode}; this version knows ${latestMigration}. Update @intertie/postgres.`;
    throw new MigrationError('refused', text);
  }
  return { pending: Math.max(0, latestMigration - schema) };
}

/** Throws if migrations are pending. */
export async function requireSchema(database: Database): Promise<void> {
  const { pending } = await checkSchema(database);
  if (pending === 0) return;
  const text = `${pending} migrations of database schema "${database.schema}" have not been applied. ${hint}`;
  throw new MigrationError('needed', text);
}

/**
 * Applies pending migrations. Safe to call from several processes at once: each migration is one transaction under a
 * transaction-level lock, which also works through a pooler.
 */
export async function migrate(database: Database): Promise<void> {
  if ((await checkSchema(database)).pending === 0) return;
  for (const migration of await readMigrations()) {
    await database.transaction((sql) => apply(sql, database.schema, migration), { noTimeout: true });
  }
}

async function apply(sql: Sql, schema: string, migration: Migration): Promise<void> {
  // Advisory locks are per database, so the schema name is a sufficient key.
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`intertie migrations: ${schema}`]);
  if ((await readState(sql, schema)).schema >= migration.number) return;
  try {
    if (migration.number === 1) await sql.query(`create schema if not exists ${quoteIdentifier(schema)}`);
    for (const statement of [...splitStatements(migration.sql), recordMigration(migration)]) {
      await sql.query(statement);
    }
  } catch (error) {
    if (sqlState(error) !== '42501') throw error;
    const text = `The role of this connection lacks the privileges to apply migration ${migration.name} to database schema "${schema}".`;
    throw new MigrationError('forbidden', `${text} ${hint}`, { cause: error });
  }
}

async function readState(sql: Sql, schema: string): Promise<State> {
  // Not `to_regclass`, whose cache may not know a table that another process created before we got the lock.
  const there = await sql.query(
    `select 1 as found from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1::text and c.relname = 'meta'`,
    [schema],
  );
  if (there.length === 0) return { schema: 0, minCode: 0 };
  const rows = await sql.query<{ key: string; value: string }>('select key, value from intertie.meta');
  const meta = new Map(rows.map(({ key, value }) => [key, Number(value)]));
  return { schema: meta.get('schema') ?? 0, minCode: meta.get('min_code') ?? 0 };
}
