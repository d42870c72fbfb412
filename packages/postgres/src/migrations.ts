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
];

/** The last migration that this code knows. */
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

/** The statements of a migration, which end with a semicolon at the end of a line. */
export function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/^--.*\n/gm, '')
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter(Boolean);
}

/** Notes that a migration has been applied. */
export function noteMigration({ number }: Migration): string {
  const update = 'on conflict (key) do update set value = excluded.value';
  return `insert into intertie.meta (key, value) values ('schema', '${number}') ${update}`;
}

/** What is not for everybody, and is applied by hand: rows by scope for roles that query, and an index of the words. */
export type OptionalMigration = 'row-security' | 'full-text';

export type PrintMigrationsOptions = {
  /** The database schema for our tables; `intertie` unless given. */
  schema?: string;
  /** The last migration that has been applied; 0 unless given. */
  after?: number;
  /** These too, at the end. */
  optional?: readonly OptionalMigration[];
};

/**
 * All migrations after a number as one script, each in a transaction of its own, for people whose database administrator
 * applies them. The program's role then needs no more than to use the schema and to read and write its tables.
 */
export async function printMigrations(options: PrintMigrationsOptions = {}): Promise<string> {
  const { schema = defaultSchema, after = 0, optional = [] } = options;
  const migrations = (await readMigrations()).filter(({ number }) => number > after);
  const create = after === 0 ? `create schema if not exists ${quoteIdentifier(schema)};\n\n` : '';
  const scripts = migrations.map((migration) =>
    inTransaction(migration.name, `${migration.sql}\n${noteMigration(migration)};\n`),
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
