// @ts-check
import pg from 'pg';

/** @import { MessageInput } from '@intertie/core' */

/**
 * The floor of a save: rows of an id and a text, in a table with a key and nothing else, in one statement that is planned
 * once. They have no order, nobody can page or follow them, and nothing about them was checked.
 * @param {string} url
 */
export async function openBareTable(url) {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('create table if not exists bare (id text primary key, content text)');
  return {
    /** @param {MessageInput[]} messages */
    async save(messages) {
      const lines = messages.map(({ content }) => JSON.stringify(content)).join('\n');
      await client.query({
        name: 'save',
        text: `insert into bare select unnest($1::text[]), unnest(string_to_array($2, E'\\n'))`,
        values: [messages.map(({ id }) => id), lines],
      });
    },
    close: () => client.end(),
  };
}
