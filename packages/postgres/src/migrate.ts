import { quoteIdentifier, sqlState, type Database, type Sql } from './database.ts';
import { latestMigration, noteMigration, readMigrations, statementsOf, type Migration } from './migrations.ts';

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  /** `needed`: the tables are older than this code. `refused`: they are too new for it. `forbidden`: the role may not. */
  readonly code: 'needed' | 'refused' | 'forbidden';

  constructor(code: MigrationError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type State = { schema: number; minCode: number };

const printing = 'printMigrations() gives the statements for a database administrator.';

/** Whether this code can work with the tables as they are. Throws if it cannot; returns what is left to apply. */
export async function checkSchema(database: Database): Promise<{ pending: number }> {
  const { schema, minCode } = await readState(database, database.schema);
  if (minCode > latestMigration) {
    const text =
      `The tables in database schema "${database.schema}" are at migration ${schema}, and ask for code that knows ` +
      `migration ${minCode}; this one knows ${latestMigration}. Update @intertie/postgres in this program.`;
    throw new MigrationError('refused', text);
  }
  return { pending: Math.max(0, latestMigration - schema) };
}

/** Throws unless all migrations that this code knows have been applied. */
export async function requireSchema(database: Database): Promise<void> {
  const { pending } = await checkSchema(database);
  if (pending === 0) return;
  const text = `${pending} migrations of database schema "${database.schema}" have not been applied. ${printing}`;
  throw new MigrationError('needed', text);
}

/**
 * Applies what has not been applied. Any number of processes may do so at once: each migration is one transaction under
 * a lock that ends with it, so it also works through a pooler.
 */
export async function migrate(database: Database): Promise<void> {
  if ((await checkSchema(database)).pending === 0) return;
  for (const migration of await readMigrations()) {
    // One after the other: each builds on the one before.
    // oxlint-disable-next-line no-await-in-loop
    await database.transaction((sql) => apply(sql, database.schema, migration), { patient: true });
  }
}

async function apply(sql: Sql, schema: string, migration: Migration): Promise<void> {
  // Locks of this kind are of one database, so the name of the schema is enough.
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))::text', [`intertie migrations: ${schema}`]);
  if ((await readState(sql, schema)).schema >= migration.number) return;
  try {
    if (migration.number === 1) await sql.query(`create schema if not exists ${quoteIdentifier(schema)}`);
    for (const statement of [...statementsOf(migration.sql), noteMigration(migration)]) {
      // oxlint-disable-next-line no-await-in-loop
      await sql.query(statement);
    }
  } catch (error) {
    if (sqlState(error) !== '42501') throw error;
    const text = `The role of this connection may not apply migration ${migration.name} to database schema "${schema}".`;
    throw new MigrationError('forbidden', `${text} ${printing}`, { cause: error });
  }
}

async function readState(sql: Sql, schema: string): Promise<State> {
  // Not `to_regclass`: it may answer from a cache that has not heard of what another process did before our lock.
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
