import type { CanonicalMessage, MessagePart, OnLoss } from '@intertie/core';

/**
 * Some models number their calls from zero in every answer, and messages that were not made by us keep such ids. A provider
 * that meets an id twice refuses the history, so a call of a later message is renamed, and its result with it.
 */
export function toUniqueCallIds(messages: readonly CanonicalMessage[], onLoss: OnLoss): CanonicalMessage[] {
  /** The message that first used an id, and what the id means now. */
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
          const why = 'A call of an earlier message has this id; this one was renamed.';
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
