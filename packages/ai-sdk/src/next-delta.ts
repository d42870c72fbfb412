import type { Fields } from './read-fields.ts';

/** What the last part was more of: its type, the wire's id of it, and ours. */
export type LastDelta = {
  type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta';
  wireId: unknown;
  id: string;
};

export interface NextWords {
  /**
   * The words of a part that is more of the same, or nothing where it is something else or says more than its words. Most of a
   * stream is this, and nothing need be looked up for it: what was open is open still.
   */
  readonly more: (part: unknown) => string | undefined;
  readonly last: () => LastDelta | undefined;
  set(last: LastDelta | undefined): void;
}

/** A function of its own, and one that asks no other: what is compiled for a class is thrown away with its last object. */
export function createNextWords(): NextWords {
  let last: LastDelta | undefined;
  return {
    more(value) {
      if (last === undefined || typeof value !== 'object' || value === null) return undefined;
      const part = value as Fields;
      const { type, wireId } = last;
      if (part.type !== type || Array.isArray(part)) return undefined;
      // Each type asks for its own fields in a place of its own, where the engine sees parts of one shape only.
      if (type === 'tool-input-delta') {
        const { delta } = part;
        if (part.id !== wireId || typeof delta !== 'string' || part.providerMetadata !== undefined) return undefined;
        return delta;
      }
      const { text } = part;
      if (part.id !== wireId || typeof text !== 'string' || part.providerMetadata !== undefined) return undefined;
      // One that says nothing is no event.
      return text === '' ? undefined : text;
    },
    last: () => last,
    set: (given) => void (last = given),
  };
}
