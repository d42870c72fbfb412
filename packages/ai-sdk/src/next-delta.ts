import type { EventOf } from '@intertie/core';
import type { Fields } from './read-fields.ts';

/** What the last part was more of: its type, the wire's id of it, and ours. */
export type LastDelta = { type: string; wireId: unknown; id: string };

/**
 * What a part says that is more of the same, or nothing where it is something else or says more than its words. Most of a
 * stream is this, and nothing need be looked up for it: what was open is open still. Each type asks for its own fields in a
 * place of its own, where the engine sees parts of one shape only.
 */
export function nextDelta(
  part: Fields,
  { type: lastType, wireId, id }: LastDelta,
): EventOf<'text-delta' | 'reasoning-delta' | 'tool-input-delta'> | undefined {
  const { type } = part;
  if (type !== lastType) return undefined;
  if (type === 'tool-input-delta') {
    const { delta } = part;
    if (part.id !== wireId || typeof delta !== 'string' || part.providerMetadata !== undefined) return undefined;
    return { type, toolCallId: id, delta };
  }
  if (type !== 'text-delta' && type !== 'reasoning-delta') return undefined;
  const { text: delta } = part;
  if (part.id !== wireId || typeof delta !== 'string' || part.providerMetadata !== undefined) return undefined;
  // One that says nothing is no event.
  return delta === '' ? undefined : { type, id, delta };
}
