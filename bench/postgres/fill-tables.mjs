// @ts-check
import { mastraMessage, ourMessage } from './sample-messages.mjs';

/** @typedef {{ key: string, messages: number }} FilledThread */

/** @param {number} total */
export function planThreads(total) {
  /** @type {FilledThread[]} */
  const threads = [
    { key: 'thread_100k', messages: total / 10 },
    { key: 'thread_10k', messages: total / 100 },
  ];
  for (let rest = total - total / 10 - total / 100, n = 0; rest > 0; n++) {
    const messages = Math.min(rest, total / 1000);
    threads.push({ key: n === 0 ? 'thread_1k' : `thread_${n}`, messages });
    rest -= messages;
  }
  return threads;
}

/**
 * Fills both stores with the same threads, in SQL: through a client it would take hours.
 * @param {import('pg').Client} client
 * @param {FilledThread[]} threads
 */
export async function fillTables(client, threads) {
  const [user, assistant] = [0, 1].map((n) => JSON.stringify(ourMessage('t', 'id', n).content));
  const [theirUser, theirAssistant] = [0, 1].map((n) => JSON.stringify(mastraMessage('t', 'id', n).content));
  const [keys, counts] = [threads.map(({ key }) => key), threads.map(({ messages }) => messages)];
  const all = `unnest($1::text[], $2::int[]) t(key, messages)`;
  await client.query(
    `insert into intertie.threads (id, scope, key, next_seq, version, head_id)
      select md5(t.key)::uuid, 'local', t.key, t.messages, 1, 'm' || t.messages from ${all}`,
    [keys, counts],
  );
  await client.query(
    `insert into intertie.conversation_message
        (thread_id, id, seq, parent_id, role, type, status, content, version, created_at, line)
      select md5(t.key)::uuid, 'm' || n, n, case when n > 1 then 'm' || n - 1 end,
        case when n % 2 = 1 then 'user' else 'assistant' end, 'text', 'complete',
        case when n % 2 = 1 then $3::json else $4::json end, 1, now() + n * interval '1 ms', 1
      from ${all} cross join lateral generate_series(1, t.messages) n`,
    [keys, counts, user, assistant],
  );
  await client.query(
    `insert into mastra_threads (id, "resourceId", title, metadata, "createdAt", "updatedAt", "createdAtZ", "updatedAtZ")
      select t.key, 'bench', 'bench', '{}', now(), now(), now(), now() from ${all}`,
    [keys, counts],
  );
  await client.query(
    `insert into mastra_messages (id, thread_id, content, role, type, "createdAt", "createdAtZ", "resourceId")
      select t.key || '_' || n, t.key, case when n % 2 = 1 then $3::text else $4::text end,
        case when n % 2 = 1 then 'user' else 'assistant' end, 'v2', now() + n * interval '1 ms',
        now() + n * interval '1 ms', 'bench'
      from ${all} cross join lateral generate_series(1, t.messages) n`,
    [keys, counts, theirUser, theirAssistant],
  );
  for (const table of ['intertie.threads', 'intertie.conversation_message', 'mastra_threads', 'mastra_messages']) {
    await client.query(`vacuum analyze ${table}`);
  }
}
