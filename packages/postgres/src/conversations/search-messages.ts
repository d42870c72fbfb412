import type { CanonicalMessage } from '@intertie/core';
import { isStoreText, toSearchTerms, type MessageMatch, type Scope, type SearchMessages } from '@intertie/core/store';

import type { Sql, SqlRow, SqlValue } from '../database.ts';

const defaultLimit = 20;

interface FoundRow extends SqlRow {
  thread_id: string;
  title: string | null;
  id: string;
  role: string;
  created_at: number;
  text: string;
}

/**
 * Finds messages by the beginnings of words. With the optional index `full-text`, the time depends on the number of matches in all
 * scopes; without it, on the number of messages of the scope, most of which the comparison with the JSON text excludes.
 */
export async function searchMessages(
  sql: Sql,
  scope: Scope,
  { search, limit = defaultLimit }: SearchMessages,
): Promise<MessageMatch[]> {
  const terms = toSearchTerms(search);
  if (terms.length === 0 || !isStoreText(search)) return [];
  const values: SqlValue[] = [scope, limit, terms.map((term) => `'${term}':*`).join(' & ')];
  const conditions = terms.map((term) => `strpos(lower(m.content::text), $${values.push(term)}) > 0`);
  const [index] = await sql.query<{ found: boolean }>(
    `select to_regclass('intertie.conversation_message_words') is not null as found`,
  );
  // Materialized, so that the index is read once and not once per thread.
  const rows = await sql.query<FoundRow>(
    `with found as ${index?.found ? 'materialized' : ''} (
       select m.thread_id, m.id from intertie.conversation_message m
       ${index?.found ? '' : 'join intertie.threads t on t.id = m.thread_id and t.scope = $1'}
       where m.deleted_at is null and ${conditions.join(' and ')}
         and intertie.search_words(intertie.search_text(m.content)) @@ $3::text::tsquery)
     select t.key as thread_id, t.title, m.id, m.role, (extract(epoch from m.created_at) * 1000)::float8 as created_at,
       intertie.search_text(m.content) as text
     from found join intertie.conversation_message m on m.thread_id = found.thread_id and m.id = found.id
       join intertie.threads t on t.id = m.thread_id
     where t.scope = $1 and not t.hidden
     order by m.created_at desc, m.seq desc limit $2::int4`,
    values,
  );
  return rows.map(toMatch);
}

function toMatch(row: FoundRow): MessageMatch {
  const match: MessageMatch = {
    threadId: row.thread_id,
    messageId: row.id,
    role: row.role as CanonicalMessage['role'],
    createdAt: new Date(row.created_at),
    text: row.text,
  };
  if (row.title !== null) match.title = row.title;
  return match;
}
