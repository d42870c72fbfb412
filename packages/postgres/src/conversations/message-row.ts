import { decodeMessage, messageFormat, type CanonicalMessage, type Json, type MessageContent } from '@intertie/core';

import type { SqlRow } from '../database.ts';

/** A message as statements give it: `select ${messageColumns} from intertie.conversation_message m`. */
export interface MessageRow extends SqlRow {
  id: string;
  client_id: string | null;
  parent_id: string | null;
  role: string;
  type: string;
  status: string;
  resource_id: string | null;
  client_run_id: string | null;
  format: number;
  content: string;
  state: string | null;
  source_state: string | null;
  extra: string | null;
  created_at: number;
}

export const messageColumns: string = `m.id, m.client_id, m.parent_id, m.role, m.type, m.status, m.resource_id,
  m.client_run_id, m.format::int4 as format, m.content::text as content, m.state::text as state,
  m.source_state::text as source_state, m.extra::text as extra,
  (extract(epoch from m.created_at) * 1000)::float8 as created_at`;

/** The message of a row. Content of an older format is upgraded; that of a newer one throws a `MessageFormatError`. */
export function toMessage(row: MessageRow, threadId: string): CanonicalMessage {
  const message = {
    ...(row.extra !== null && (JSON.parse(row.extra) as object)),
    id: row.id,
    threadId,
    role: row.role,
    type: row.type,
    content: JSON.parse(row.content) as MessageContent,
    createdAt: new Date(row.created_at),
    ...(row.resource_id !== null && { resourceId: row.resource_id }),
    ...(row.client_id !== null && { clientId: row.client_id }),
    ...(row.parent_id !== null && { parentId: row.parent_id }),
    ...(row.client_run_id !== null && { runId: row.client_run_id }),
    status: row.status,
    ...(row.state !== null && { state: JSON.parse(row.state) as Json }),
    ...(row.source_state !== null && { sourceState: JSON.parse(row.source_state) as Json }),
  } as CanonicalMessage;
  // It was checked on its way in, so that what is of this format needs no second look.
  if (row.format === messageFormat) return message;
  return decodeMessage({ ...message, createdAt: message.createdAt.toISOString() });
}
