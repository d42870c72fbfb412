import type { Message } from '@ag-ui/core';

/**
 * The history with the messages of a run in it, as the client's own fold would have it: what it knows stays in its place, what
 * is new comes behind what it follows. A result that the client has given itself is not told it again under another id.
 */
export function mergeMessages(history: readonly Message[], messages: readonly Message[]): Message[] {
  const merged = [...history];
  const answered = new Set(history.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])));
  const places = new Map(history.map(({ id }, index) => [id, index]));
  let after = merged.length;
  const fresh: Message[] = [];
  for (const message of messages) {
    const place = places.get(message.id);
    if (place !== undefined) merged[place] = message;
    else if (message.role !== 'tool' || !answered.has(message.toolCallId)) fresh.push(message);
    if (place !== undefined) after = Math.max(after, place + 1);
  }
  merged.splice(after, 0, ...fresh);
  return merged;
}
