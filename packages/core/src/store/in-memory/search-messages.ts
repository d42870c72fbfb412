import type { MessageMatch, SearchMessages } from '../store.ts';
import { getSearchText, toSearchTerms, toWords } from '../rules/search-terms.ts';
import type { ThreadRow } from './tables.ts';

const defaultLimit = 20;

/** Reads all messages: an index would cost memory for every message. */
export function searchMessages(
  threads: Iterable<ThreadRow>,
  { search, limit = defaultLimit }: SearchMessages,
): MessageMatch[] {
  const terms = toSearchTerms(search);
  if (terms.length === 0) return [];
  const found: MessageMatch[] = [];
  for (const thread of threads) {
    if (thread.hidden) continue;
    for (const { message, deleted } of thread.messages.values()) {
      if (deleted) continue;
      const text = getSearchText(message.content);
      const words = toWords(text);
      if (!terms.every((term) => words.some((word) => word.startsWith(term)))) continue;
      const { id: messageId, role, createdAt } = message;
      const { id: threadId, title } = thread;
      found.push({ threadId, messageId, role, createdAt, text, ...(title !== undefined && { title }) });
    }
  }
  return found.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime()).slice(0, limit);
}
