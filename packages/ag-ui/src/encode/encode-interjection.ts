import type { EventOf, Json } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { ownerField } from './encode-agents.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
import { partMetadata } from './part-metadata.ts';
import { defined } from '../shared/read-fields.ts';

/** Encodes a message of another role inside the run as a complete text message. */
export function encodeInterjection(
  event: EventOf<'interjection'>,
  owner: string | undefined,
  write: (event: AGUIEvent) => void,
): void {
  const { id: messageId, role, name, parts } = event;
  const isPlain = parts.length === 1 && parts[0]?.type === 'text' && Object.keys(parts[0]).length === 2;
  const extra = { ...partMetadata(event, owner), ...(!isPlain && { parts: parts as unknown as Json }) };
  const delta = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  write({
    type: 'TEXT_MESSAGE_START',
    messageId,
    role,
    ...defined({ name }),
    ...ownerField(owner),
    ...toMetadata(extra),
  });
  if (delta !== '') write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta });
  write({ type: 'TEXT_MESSAGE_END', messageId });
}
