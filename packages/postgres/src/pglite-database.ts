import { defaultSchema, inSchema, type Database, type Sql, type SqlPool, type SqlRow } from './database.ts';
import type { Pglite } from './drivers.ts';
import { JsonArrayParameter } from './json-array-parameter.ts';

export type PgliteDatabaseOptions = {
  /** Database schema of the tables. Default: `intertie`. */
  schema?: string;
  close?: () => Promise<void>;
};

/** Uses a PGlite of the user. Its single connection is shared with the user's own statements. */
export function usePglite(pglite: Pglite, options: PgliteDatabaseOptions = {}): Database {
  const schema = options.schema ?? defaultSchema;
  const on = (target: Pick<Pglite, 'query'>): Sql => ({
    query: async <Row extends SqlRow>(text: string, values: Parameters<Sql['query']>[1] = []) => {
      const plain = values.map((value) => (value instanceof JsonArrayParameter ? value.toBytes() : value));
      const { rows } = await target.query(inSchema(text, schema), plain, types);
      return rows as Row[];
    },
  });
  // PGlite runs transactions one at a time, so the isolation level does not matter.
  const pool: SqlPool = { ...on(pglite), transaction: (work) => pglite.transaction((tx) => work(on(tx))) };
  return { ...pool, hot: pool, schema, embedded: true, close: options.close ?? (() => Promise.resolve()) };
}

/** Parsers for the result types of `Sql`, independent of the parsers of the user. */
const types = { parsers: { 23: Number, 701: Number, 16: (text: string) => text === 't' } };
