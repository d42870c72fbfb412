import type { MessagePart, OnLoss } from '@intertie/core';
import { omit } from './read-fields.ts';

/** Whether content exchanged between agents is shown: not at all, unchanged, or as reasoning. */
export type IncludeInternal = boolean | 'reasoning';

/** Applies the policy to a part. Undefined if the part is withheld, which is reported as a loss. */
export function filterInternal(
  part: MessagePart,
  includeInternal: IncludeInternal,
  onLoss: OnLoss,
): MessagePart | undefined {
  if (!part.internal || includeInternal === true) return part;
  if (includeInternal === 'reasoning' && part.type === 'text') {
    const { text, ...kept } = omit(part, 'type', 'citations');
    return { type: 'reasoning', reasoning: text, ...kept };
  }
  if (includeInternal === 'reasoning') return part;
  const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
  const why = 'The content is internal to the agents. Set "includeInternal" to show it.';
  onLoss({ kind: 'withheld', what: part.type, why, ...(id !== undefined && { id }) });
  return undefined;
}
