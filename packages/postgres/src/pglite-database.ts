import { defaultSchema, inSchema, type Database, type Sql, type SqlPool, type SqlRow } from './database.ts';
import type { Pglite } from './drivers.ts';
import { JsonList } from './json-list.ts';

export type PgliteDatabaseOptions = {
  /** The database schema that holds our tables; `intertie` unless given. */
  schema?: string;
  close?: () => Promise<void>;
};

/** A PGlite of somebody else's, in this process. It has one connection, which takes turns with whatever else it is used for. */
export function usePglite(pglite: Pglite, options: PgliteDatabaseOptions = {}): Database {
  const schema = options.schema ?? defaultSchema;
  const on = (target: Pick<Pglite, 'query'>): Sql => ({
    query: async <Row extends SqlRow>(text: string, values: Parameters<Sql['query']>[1] = []) => {
      const plain = values.map((value) => (value instanceof JsonList ? value.toBytes() : value));
      const { rows } = await target.query(inSchema(text, schema), plain, types);
      return rows as Row[];
    },
  });
  // Transactions take turns too, so that the level of their isolation makes no difference.
  const pool: SqlPool = { ...on(pglite), transaction: (work) => pglite.transaction((tx) => work(on(tx))) };
  return { ...pool, hot: pool, schema, embedded: true, close: options.close ?? (() => Promise.resolve()) };
}

/** As in `pg-database.ts`: whatever parsers the program has set for its own queries. */
const types = { parsers: { 23: Number, 701: Number, 16: (text: string) => text === 't' } };
