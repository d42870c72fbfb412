// @ts-check
import pg from 'pg';

/** @import { MessageInput } from '@intertie/core/store' */

/**
 * The floor of a save: rows of an id and a text, in a table with a key and nothing else, in one statement that is planned
 * once. They have no order, nobody can page or follow them, and nothing about them was checked. What is kept as it is and what
 * the server compresses is as in our table, unless all is left to the server.
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
    /** How far the log of the database is, in bytes. */
    async logBytes() {
      const { rows } = await client.query(`select (pg_current_wal_lsn() - '0/0')::float8 as bytes`);
      return Number(rows[0].bytes);
    },
    close: () => client.end(),
  };
}
