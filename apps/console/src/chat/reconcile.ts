import type { UIMessage } from 'ai';

/** The server's messages, where nothing has changed as the very objects that are shown, so that nothing is drawn again. */
export function reconcile(shown: readonly UIMessage[], kept: readonly UIMessage[]): UIMessage[] {
  const known = new Map(shown.map((message) => [message.id, message]));
  return kept.map((message) => {
    const before = known.get(message.id);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
}
