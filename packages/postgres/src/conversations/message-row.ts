import { decodeMessage, type CanonicalMessage, type Json, type MessageContent } from '@intertie/core';
import { messageFormat } from '@intertie/core/internal';

import type { SqlRow } from '../database.ts';

/** Result row of `select ${messageColumns} from intertie.conversation_message m`. */
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

/** Reads the message of a row. Upgrades content of an older format; throws a `MessageFormatError` for a newer one. */
export function toMessage(row: MessageRow, threadId: string): CanonicalMessage {
  // Assigns fields instead of spreading objects: a long branch has 10,000 messages, and the copies cost as much as the query.
  const message = {
    id: row.id,
    threadId,
    role: row.role,
    type: row.type,
    content: JSON.parse(row.content) as MessageContent,
    createdAt: new Date(row.created_at),
    status: row.status,
  } as CanonicalMessage;
  if (row.resource_id !== null) message.resourceId = row.resource_id;
  if (row.client_id !== null) message.clientId = row.client_id;
  if (row.parent_id !== null) message.parentId = row.parent_id;
  if (row.client_run_id !== null) message.runId = row.client_run_id;
  if (row.state !== null) message.state = JSON.parse(row.state) as Json;
  if (row.source_state !== null) message.sourceState = JSON.parse(row.source_state) as Json;
  if (row.extra !== null) Object.assign(message, { ...(JSON.parse(row.extra) as object), ...message });
  // Content of the current format was validated when it was saved.
  if (row.format === messageFormat) return message;
  return decodeMessage({ ...message, createdAt: message.createdAt.toISOString() });
}
