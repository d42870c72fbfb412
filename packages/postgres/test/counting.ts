import type { Database, Sql } from '../src/database.ts';

/** The database, and the statements that it was given: each is a round trip, and a transaction is two more. */
export function counting(database: Database): { database: Database; statements: string[] } {
  const statements: string[] = [];
  const on = (sql: Sql): Sql => ({
    query: (text, values) => {
      statements.push(text);
      return sql.query(text, values);
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
  return { database: { ...counted, hot: counted }, statements };
}
