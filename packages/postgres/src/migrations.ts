import { readFile } from 'node:fs/promises';

import { defaultSchema, inSchema, quoteIdentifier } from './database.ts';

export type Migration = { number: number; name: string; sql: string };

const names = [
  '0001_store',
  '0002_lines',
  '0003_lighter_saves',
  '0004_plain_messages',
  '0005_claims',
  '0006_message_defaults',
  '0007_recovery',
  '0008_branches',
  '0009_runs_by_message',
  '0010_search',
];

/** Number of the last migration that this code knows. */
export const latestMigration: number = names.length;

export function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    names.map(async (name, index) => ({
      number: index + 1,
      name,
      sql: await readSql(name),
    })),
  );
}

/** Splits a migration into statements, which end with a semicolon at the end of a line. */
export function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/^--.*\n/gm, '')
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter(Boolean);
}

/** SQL that records an applied migration. */
export function recordMigration({ number }: Migration): string {
  const update = 'on conflict (key) do update set value = excluded.value';
  return `insert into intertie.meta (key, value) values ('schema', '${number}') ${update}`;
}

/** Migrations that are applied by hand: row-level security by scope, and an index for `searchMessages`. */
export type OptionalMigration = 'row-security' | 'full-text';

export type PrintMigrationsOptions = {
  /** Database schema of the tables. Default: `intertie`. */
  schema?: string;
  /** Number of the last migration that was applied. Default: 0. */
  after?: number;
  /** Optional migrations to append. */
  optional?: readonly OptionalMigration[];
};

/**
 * Prints all migrations after a number as one script, each in its own transaction, for a database administrator to apply. The
 * role of the program then only needs to use the schema and to read and write its tables.
 */
export async function printMigrations(options: PrintMigrationsOptions = {}): Promise<string> {
  const { schema = defaultSchema, after = 0, optional = [] } = options;
  const migrations = (await readMigrations()).filter(({ number }) => number > after);
  const create = after === 0 ? `create schema if not exists ${quoteIdentifier(schema)};\n\n` : '';
  const scripts = migrations.map((migration) =>
    inTransaction(migration.name, `${migration.sql}\n${recordMigration(migration)};\n`),
  );
  const extras = optional.map(async (name) => inTransaction(name, await readSql(`optional/${name}`)));
  return create + inSchema([...scripts, ...(await Promise.all(extras))].join('\n'), schema);
}

function inTransaction(name: string, sql: string): string {
  return `-- ${name}\nbegin;\n\n${sql}\ncommit;\n`;
}

function readSql(name: string): Promise<string> {
  return readFile(new URL(`../migrations/${name}.sql`, import.meta.url), 'utf8');
}
