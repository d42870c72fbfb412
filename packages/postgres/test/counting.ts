import type { Database, QueryOptions, Sql, SqlValue } from '../src/database.ts';

export type Call = { text: string; values: readonly SqlValue[] | undefined; options: QueryOptions | undefined };

/** Wraps a database and records its statements. Each is a round trip; a transaction takes two more. */
export function counting(database: Database): { database: Database; statements: string[]; calls: Call[] } {
  const statements: string[] = [];
  const calls: Call[] = [];
  const on = (sql: Sql): Sql => ({
    query: (text, values, options) => {
      statements.push(text);
      calls.push({ text, values, options });
      return sql.query(text, values, options);
    },
  });
  const counted: Database = {
    ...database,
    ...on(database),
    transaction: async (work, options) => {
      statements.push('begin');
      const result = await database.transaction((sql) => work(on(sql)), options);
      statements.push('commit');
      return result;
    },
  };
  return { database: { ...counted, hot: counted }, statements, calls };
}
