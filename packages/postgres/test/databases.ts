import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PGlite, protocol } from '@electric-sql/pglite';
import pg from 'pg';

import manifest from '../package.json' with { type: 'json' };
import type { Database } from '../src/database.ts';
import { migrate } from '../src/migrate.ts';
import { printMigrations } from '../src/migrations.ts';
import { connectPg } from '../src/pg-database.ts';
import { useOwnedPglite } from '../src/owned-pglite.ts';
import { onceIn, runFolder, runner, waitFor } from './once-per-run.ts';

const cache = fileURLToPath(new URL('../../../.intertie/postgres', import.meta.url));

/** Opens a migrated PGlite in memory. Loads it from a dump that is made once, because its first start takes seconds. */
export async function openPglite(): Promise<Database & { pglite: PGlite }> {
  const pglite = await PGlite.create({ loadDataDir: await migratedDump() });
  return { ...useOwnedPglite(pglite, protocol, { close: () => pglite.close() }), pglite };
}

/** Fills a folder with a migrated database, as a closed store leaves it. */
export async function fillFolder(folder: string): Promise<void> {
  const data = join(folder, 'database');
  mkdirSync(data, { recursive: true });
  execFileSync('tar', ['-xf', await dumpFile(), '-C', data]);
  writeFileSync(join(folder, 'database.ready'), '');
}

async function migratedDump(): Promise<Blob> {
  return new Blob([readFileSync(await dumpFile())]);
}

async function dumpFile(): Promise<string> {
  const hash = createHash('sha256').update(
    `${manifest.devDependencies['@electric-sql/pglite']}\n${await printMigrations()}`,
  );
  const file = join(cache, `pglite-${hash.digest('hex').slice(0, 16)}.tar`);
  return onceIn(runFolder, 'pglite', async () => {
    if (!existsSync(file)) {
      const pglite = await PGlite.create();
      await migrate(useOwnedPglite(pglite, protocol));
      mkdirSync(cache, { recursive: true });
      writeFileSync(`${file}.${process.pid}`, Buffer.from(await (await pglite.dumpDataDir('none')).arrayBuffer()));
      renameSync(`${file}.${process.pid}`, file);
      await pglite.close();
    }
    return file;
  });
}

/** URL, without a database, of a server that all test files share. */
export function postgresServer(): Promise<string> {
  return onceIn(runFolder, 'server', async () => {
    const program = fileURLToPath(new URL('embedded-server.mjs', import.meta.url));
    spawn(process.execPath, [program, runFolder, String(runner)], { detached: true, stdio: 'ignore' }).unref();
    const failed = waitFor(join(runFolder, 'error'), 60_000).then(
      (text) => Promise.reject(new Error(`The Postgres server for tests did not start: ${text}`)),
      () => waitFor(join(runFolder, 'url'), 0),
    );
    const url = await Promise.race([waitFor(join(runFolder, 'url'), 60_000), failed]);
    const template = connectPg(await createDatabase(url, 'intertie_template'));
    await migrate(template);
    await template.close();
    return url;
  });
}

/** Creates a database, migrated or empty. */
export async function newPostgresUrl(options: { empty?: boolean } = {}): Promise<string> {
  const server = await postgresServer();
  return createDatabase(server, `test_${randomUUID().replaceAll('-', '')}`, options.empty ? '' : 'intertie_template');
}

/** Creates a migrated database whose default isolation is serializable. */
export async function newSerializableUrl(): Promise<string> {
  const url = await newPostgresUrl();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`alter database ${client.database} set default_transaction_isolation = 'serializable'`);
  await client.end();
  return url;
}

export async function openPostgres(): Promise<Database> {
  return connectPg(await newPostgresUrl());
}

async function createDatabase(server: string, name: string, template = ''): Promise<string> {
  const client = new pg.Client(`${server}/postgres`);
  await client.connect();
  await client.query(`create database ${name}${template && ` template ${template} strategy wal_log`}`);
  await client.end();
  return `${server}/${name}`;
}

/** The databases that tests run on. */
export const databases: Array<{ name: string; open: () => Promise<Database> }> = [
  { name: 'PGlite', open: openPglite },
  { name: 'Postgres', open: openPostgres },
];

/** Empties all tables, which is faster than a new database per test. */
export async function emptyTables(database: Database): Promise<void> {
  const tables = ['blob_refs', 'blobs', 'requests', 'run_events', 'conversation_message', 'threads', 'processes'];
  await database.transaction(async (sql) => {
    for (const table of tables) await sql.query(`delete from intertie.${table}`);
  });
}
