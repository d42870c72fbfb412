import type { MessageContent, MessagePart } from '@intertie/core';
import { asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/**
 * What a snapshot of the messages makes of what was streamed before it: words that differ are those of the snapshot, and what
 * it leaves out is gone; reasoning only if it has any. Undefined where it says the same. `streamed`: the parts of this run, by
 * the ids of their messages.
 */
export function correctContent(
  content: MessageContent,
  messages: readonly Fields[],
  streamed: ReadonlyMap<string, string>,
): MessageContent | undefined {
  const told = new Map(messages.map((message) => [asNonEmptyText(message.id), message]));
  const messageIds = new Map(Array.from(streamed, ([messageId, partId]) => [partId, messageId]));
  const hasReasoning = messages.some(({ role }) => role === 'reasoning');
  let isChanged = false;
  const change = <Out>(to: Out): Out => {
    isChanged = true;
    return to;
  };
  const parts = content.parts.flatMap((part): MessagePart[] => {
    const messageId = part.type === 'text' || part.type === 'reasoning' ? messageIds.get(part.id ?? '') : undefined;
    if (messageId === undefined) return [part];
    const message = told.get(messageId);
    if (message === undefined) return part.type === 'reasoning' && !hasReasoning ? [part] : change([]);
    const words = asText(message.content);
    if (part.type === 'text')
      return words === undefined || words === part.text ? [part] : change([{ ...part, text: words }]);
    if (part.type !== 'reasoning' || words === undefined || words === part.reasoning) return [part];
    return change([{ ...part, reasoning: words }]);
  });
  return isChanged ? { ...content, parts } : undefined;
}
