import type { MessageContent, MessagePart } from '@intertie/core';
import { asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/**
 * Applies a messages snapshot to streamed content: differing texts are replaced, omitted parts are removed (reasoning only if the
 * snapshot contains any). Returns undefined if nothing changes. `streamed`: parts of this run by message id; `renamed`: parts that
 * the snapshot has under new ids.
 */
export function correctContent(
  content: MessageContent,
  messages: readonly Fields[],
  streamed: ReadonlyMap<string, string>,
  renamed: ReadonlyMap<string, string[]>,
): MessageContent | undefined {
  const snapshot = new Map(messages.map((message) => [asNonEmptyText(message.id), message]));
  const messageIds = new Map(Array.from(streamed, ([messageId, partId]) => [partId, messageId]));
  for (const [messageId, parts] of renamed) {
    // The text of several parts is equal as a whole, and needs no correction.
    for (const partId of parts) {
      if (parts.length === 1) messageIds.set(partId, messageId);
      else messageIds.delete(partId);
    }
  }
  const hasReasoning = messages.some(({ role }) => role === 'reasoning');
  let isChanged = false;
  const change = <Out>(to: Out): Out => {
    isChanged = true;
    return to;
  };
  const parts = content.parts.flatMap((part): MessagePart[] => {
    const messageId = part.type === 'text' || part.type === 'reasoning' ? messageIds.get(part.id ?? '') : undefined;
    if (messageId === undefined) return [part];
    const message = snapshot.get(messageId);
    if (message === undefined) return part.type === 'reasoning' && !hasReasoning ? [part] : change([]);
    const text = asText(message.content);
    if (part.type === 'text')
      return text === undefined || text === part.text ? [part] : change([{ ...part, text: text }]);
    if (part.type !== 'reasoning' || text === undefined || text === part.reasoning) return [part];
    return change([{ ...part, reasoning: text }]);
  });
  return isChanged ? { ...content, parts } : undefined;
}
