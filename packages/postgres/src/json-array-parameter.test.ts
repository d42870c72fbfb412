import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { newPostgresUrl, openPglite, openPostgres } from '../test/databases.ts';
import type { Database } from './database.ts';
import type { DrizzleDatabase } from './drivers.ts';
import { useDrizzle } from './drizzle-database.ts';
import { JsonArrayParameter } from './json-array-parameter.ts';

async function openUnknown(): Promise<Database> {
  const pool = new pg.Pool({ connectionString: await newPostgresUrl() });
  onTestFinished(() => pool.end());
  const db = drizzle(pool);
  const unknown: DrizzleDatabase = {
    execute: (query) => db.execute(query as string),
    transaction: (work, config) => db.transaction((tx) => work(tx), config),
  };
  return useDrizzle(unknown);
}

const texts = [
  JSON.stringify({ quoted: 'a "b" \\ {c,d}', lines: '1\n2\r\n3\t', nul: '\0', half: '\ud800' }),
  undefined,
  JSON.stringify('ä€😀'),
  'null',
];

it.each([
  ['pg', openPostgres],
  ['PGlite', openPglite],
  ['an unknown driver', openUnknown],
])('passes an array of JSON unchanged: %s', async (_, open) => {
  const database = await open();
  onTestFinished(() => database.close());
  const read = async (list: ReadonlyArray<string | undefined>): Promise<unknown> => {
    const rows = await database.query('select unnest($1::json[])::text as json', [new JsonArrayParameter(list)]);
    return rows.map(({ json }) => json ?? undefined);
  };
  expect(await read(texts)).toEqual(texts);
  expect(await read([])).toEqual([]);
});
