import { eq, is } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { getTableConfig, PgDialect, PgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { beforeAll, describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';

import { databases, newPostgresUrl, postgresServer } from '../test/databases.ts';
import { createTables } from './create-tables.ts';
import type { Database } from './database.ts';
import * as schema from './drizzle.ts';

beforeAll(() => postgresServer(), 60_000);

const tables = Object.values<unknown>(schema).filter((value): value is PgTable => is(value, PgTable));

/** Describes a Drizzle table in the terms of the database catalog. */
function describeDeclared(table: PgTable) {
  const config = getTableConfig(table);
  const dialect = new PgDialect();
  const names = (columns: ReadonlyArray<{ name: string }>) => columns.map(({ name }) => name).join(', ');
  return {
    name: config.name,
    columns: config.columns.map(
      (column) =>
        `${column.name} ${column.getSQLType()}${column.notNull ? ' not null' : ''}` +
        (column.generatedIdentity ? ' identity' : column.hasDefault ? ' default' : ''),
    ),
    keys: [
      ...config.columns
        .filter((column) => column.primary)
        .map((column) => `${config.name}_pkey primary (${column.name})`),
      ...config.primaryKeys.map((key) => `${key.getName()} primary (${names(key.columns)})`),
      ...config.uniqueConstraints.map((key) => `${key.getName()} unique (${names(key.columns)})`),
      ...config.foreignKeys.map((key) => {
        const { columns, foreignColumns, foreignTable } = key.reference();
        const target = `${getTableConfig(foreignTable).name} (${names(foreignColumns)})`;
        return `${key.getName()} foreign (${names(columns)}) to ${target} on delete ${key.onDelete ?? 'no action'}`;
      }),
      ...config.checks.map((check) => `${check.name} check`),
    ].toSorted(),
    indexes: config.indexes
      .map(({ config: { name, columns, where } }) => {
        const list = columns.map((column) => {
          const { name: of, indexConfig } = column as { name: string; indexConfig?: { order?: string } };
          return `${of}${indexConfig?.order === 'desc' ? ' desc' : ''}`;
        });
        const condition = where && dialect.sqlToQuery(where).sql.replaceAll(/"\w+"\."\w+"\."(\w+)"/g, '$1');
        return `${name} (${list.join(', ')})${condition ? ` where ${condition}` : ''}`;
      })
      .toSorted(),
  };
}

/** Describes a table from the database catalog. */
async function describeFound(database: Database, table: string) {
  const texts = async (query: string): Promise<string[]> =>
    (await database.query<{ text: string }>(query, [table])).map(({ text }) => text);
  const selectColumnNames = (keys: string, of: string) =>
    `(select string_agg(a.attname, ', ' order by k.n) from unnest(${keys}) with ordinality k(num, n)
      join pg_attribute a on a.attrelid = ${of} and a.attnum = k.num)`;
  const from = `pg_class t join pg_namespace s on s.oid = t.relnamespace and s.nspname = 'intertie'`;
  return {
    name: table,
    columns: await texts(
      `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
         || case when a.attidentity <> '' then ' identity' when a.atthasdef then ' default' else '' end as text
       from ${from} join pg_attribute a on a.attrelid = t.oid and a.attnum > 0
       where t.relname = $1::text order by a.attnum`,
    ),
    keys: (
      await texts(
        `select c.conname || case c.contype
             when 'p' then ' primary (' || ${selectColumnNames('c.conkey', 'c.conrelid')} || ')'
             when 'u' then ' unique (' || ${selectColumnNames('c.conkey', 'c.conrelid')} || ')'
             when 'c' then ' check'
             else ' foreign (' || ${selectColumnNames('c.conkey', 'c.conrelid')} || ') to ' || f.relname || ' ('
               || ${selectColumnNames('c.confkey', 'c.confrelid')} || ') on delete '
               || case c.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'no action' end end as text
         from ${from} join pg_constraint c on c.conrelid = t.oid left join pg_class f on f.oid = c.confrelid
         where t.relname = $1::text and c.contype in ('p', 'u', 'c', 'f')`,
      )
    ).toSorted(),
    indexes: (
      await texts(
        `select x.relname || ' (' || (select string_agg(pg_get_indexdef(i.indexrelid, n, true)
               || case when i.indoption[n - 1] & 1 = 1 then ' desc' else '' end, ', ' order by n)
             from generate_series(1, i.indnkeyatts) n) || ')'
           || coalesce(' where ' || pg_get_expr(i.indpred, i.indrelid, true), '') as text
         from ${from} join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
         where t.relname = $1::text and not exists (select from pg_constraint c where c.conindid = i.indexrelid
           and c.contype in ('p', 'u'))`,
      )
    )
      .map((text) => text.replaceAll('::text', '').toLowerCase())
      .toSorted(),
  };
}

describe.each(databases)('the Drizzle schema, $name', ({ open }) => {
  it('declares the same tables as the database', { timeout: 30_000 }, async () => {
    const database = await open();
    onTestFinished(() => database.close());
    const there = await database.query<{ name: string }>(
      `select table_name::text as name from information_schema.tables where table_schema = 'intertie' order by 1`,
    );
    expect(tables.map((table) => describeDeclared(table).name).toSorted()).toEqual(there.map(({ name }) => name));
    for (const table of tables) {
      const expected = describeDeclared(table);
      expect(await describeFound(database, expected.name)).toEqual(expected);
    }
  });
});

describe('the Drizzle schema', () => {
  it('supports Drizzle queries', async () => {
    const pool = new pg.Pool({ connectionString: await newPostgresUrl() });
    onTestFinished(() => pool.end());
    const db = drizzle(pool);
    const { conversationMessage, threads } = schema;
    const rows = await db
      .select({ id: conversationMessage.id, parts: conversationMessage.content, title: threads.title })
      .from(conversationMessage)
      .innerJoin(threads, eq(threads.id, conversationMessage.threadId))
      .where(eq(threads.key, 'thread_1'));
    expectTypeOf<(typeof rows)[number]['title']>().toEqualTypeOf<string | null>();
    expectTypeOf<(typeof rows)[number]['parts']['format']>().toEqualTypeOf<2>();
    expectTypeOf<(typeof threads.$inferInsert)['version']>().toEqualTypeOf<number | undefined>();
    expect(rows).toEqual([]);
  });

  it('creates tables for another database schema', () => {
    expect(getTableConfig(createTables('other').threads)).toMatchObject({ name: 'threads', schema: 'other' });
  });
});
