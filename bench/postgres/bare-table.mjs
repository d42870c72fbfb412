// @ts-check
import pg from 'pg';

/** @import { MessageInput } from '@intertie/core/store' */

/**
 * Lower bound of a save: rows with an id and a text, in a table with only a primary key, in one prepared statement. The rows have no
 * order, cannot be paged or followed, and are not validated. Values are stored inline or compressed as in our table, unless the
 * server decides.
 * @param {string} url
 * @param {{ isLeftToServer?: boolean }} [options]
 */
export async function openBareTable(url, { isLeftToServer = false } = {}) {
  const client = new pg.Client(url);
  await client.connect();
  const table = isLeftToServer ? 'bare_left' : 'bare';
  const storage = isLeftToServer ? '' : 'with (toast_tuple_target = 4080)';
  await client.query(`create table if not exists ${table} (id text primary key, content text) ${storage}`);
  return {
    /** @param {MessageInput[]} messages */
    async save(messages) {
      const lines = messages.map(({ content }) => JSON.stringify(content)).join('\n');
      await client.query({
        name: 'save',
        text: `insert into ${table} select unnest($1::text[]), unnest(string_to_array($2, E'\\n'))`,
        values: [messages.map(({ id }) => id), lines],
      });
    },
    /** Position of the database's write-ahead log, in bytes. */
    async logBytes() {
      const { rows } = await client.query(`select (pg_current_wal_lsn() - '0/0')::float8 as bytes`);
      return Number(rows[0].bytes);
    },
    close: () => client.end(),
  };
}
