import type { CanonicalMessage, MessagePart, OnLoss } from '@intertie/core';

/**
 * Renames calls whose id an earlier message already uses, together with their results: providers reject a history with
 * repeated call ids. Some models number their calls from zero in every response, and imported messages keep those ids.
 */
export function toUniqueCallIds(messages: readonly CanonicalMessage[], onLoss: OnLoss): CanonicalMessage[] {
  /** Id of the message that first used a call id, and the current replacement of the call id. */
  const owners = new Map<string, string>();
  const current = new Map<string, string>();
  return messages.map((message) => {
    if (!message.content.parts.some(({ type }) => type === 'tool-invocation')) return message;
    const parts = message.content.parts.map((part): MessagePart => {
      if (part.type !== 'tool-invocation') return part;
      const { toolCallId: id } = part;
      const owner = owners.get(id) ?? message.id;
      if (message.role !== 'tool') {
        owners.set(id, owner);
        if (owner !== message.id) {
          current.set(id, `${message.id}:${id}`);
          const why = 'A call of an earlier message has the same id; this call was renamed.';
          onLoss({ kind: 'repaired', what: 'tool call id', why, id });
        }
      }
      const toolCallId = current.get(id);
      if (toolCallId === undefined) return part;
      return { ...part, toolCallId, ...(part.approval && { approval: { ...part.approval, toolCallId } }) };
    });
    const isChanged = parts.some((part, index) => part !== message.content.parts[index]);
    return isChanged ? { ...message, content: { ...message.content, parts } } : message;
  });
}
