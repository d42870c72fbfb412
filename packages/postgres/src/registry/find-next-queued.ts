import type { Sql } from '../database.ts';

/**
 * Finds the next queued run of a locked thread: the oldest, including continuations. A run whose branch contains the message
 * of a queued continuation waits for that continuation, because the message is unfinished.
 */
export async function findNextQueued(sql: Sql, threadUuid: string): Promise<string | undefined> {
  const [next] = await sql.query<{ key: string }>(
    `with recursive queued as materialized (
        select id, serial, message_id, resumes from intertie.runs where thread_id = $1::text::uuid and state = 'queued'),
      unfinished as materialized (
        select message_id from queued where resumes is not null),
      up as (
        select q.id as run_id, m.parent_id from queued q
          join intertie.conversation_message m on m.thread_id = $1::text::uuid and m.id = q.message_id
        where exists (select from unfinished)
      union all
        select up.run_id, m.parent_id from up
          join intertie.conversation_message m on m.thread_id = $1::text::uuid and m.id = up.parent_id
        where m.deleted_at is null and up.parent_id not in (select message_id from unfinished))
      select q.id::text as key from queued q
      where not exists (
        select from up where up.run_id = q.id and up.parent_id in (select message_id from unfinished))
      order by q.serial limit 1`,
    [threadUuid],
  );
  return next?.key;
}
