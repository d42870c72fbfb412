import type { AgentEvent, CanonicalMessage } from '@intertie/core';
import { filterReasoning, withoutReasoning } from './history-options.ts';

/**
 * Which part of a model's reasoning is written to the log and the message: all of it, only the metadata by which its provider
 * recognises it (signatures, encrypted content, item ids), or nothing. Clients read the log, so they receive only what is
 * written. A paused run keeps the metadata under `none` too until it has ended: the provider needs it to continue.
 */
export type StoreReasoning = 'all' | 'signatures' | 'none';

/** Returns the event as it is written; undefined if all of it is reasoning that is not stored. */
export function toStoredEvent(event: AgentEvent, mode: StoreReasoning): AgentEvent | undefined {
  if (mode === 'all') return event;
  if (event.type === 'reasoning-delta') return event.providerMetadata ? { ...event, delta: '' } : undefined;
  if (event.type !== 'message-snapshot') return event;
  return { ...event, content: filterReasoning(event.content, 'metadata-only') };
}

/** Returns the message as it is stored when its run has ended. */
export function toStoredMessage(message: CanonicalMessage, mode: StoreReasoning): CanonicalMessage {
  if (mode === 'all') return message;
  return withoutReasoning(message, mode === 'none' && message.status !== 'paused' ? 'none' : 'metadata-only');
}
