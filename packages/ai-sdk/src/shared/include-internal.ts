import type { MessagePart, OnLoss } from '@intertie/core';
import { omit } from './read-fields.ts';

/** Whether what agents say among themselves is shown: not at all, as it is, or as reasoning. */
export type IncludeInternal = boolean | 'reasoning';

/** A part as the policy has it. Undefined: it is withheld, and the ledger says so. */
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
  const why = 'It was said between agents; the option "includeInternal" shows it.';
  onLoss({ kind: 'withheld', what: part.type, why, ...(id !== undefined && { id }) });
  return undefined;
}
