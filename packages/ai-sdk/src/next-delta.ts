import { isFields } from './read-fields.ts';

/** What the last part was more of: its type, the wire's id of it, and ours. */
export type LastDelta = {
  type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta';
  wireId: unknown;
  id: string;
};

/**
 * The words of a part that is more of the same, or nothing where it is something else or says more than its words. Most of a
 * stream is this, and nothing need be looked up for it: what was open is open still. Each type asks for its own fields in a
 * place of its own, where the engine sees parts of one shape only.
 */
export function nextWords(part: unknown, last: LastDelta | undefined): string | undefined {
  if (last === undefined || !isFields(part)) return undefined;
  const { type, wireId } = last;
  if (part.type !== type) return undefined;
  if (type === 'tool-input-delta') {
    const { delta } = part;
    if (part.id !== wireId || typeof delta !== 'string' || part.providerMetadata !== undefined) return undefined;
    return delta;
  }
  const { text } = part;
  if (part.id !== wireId || typeof text !== 'string' || part.providerMetadata !== undefined) return undefined;
  // One that says nothing is no event.
  return text === '' ? undefined : text;
}
