import type { CanonicalMessage, Store } from '@intertie/core';
import { defaultTokens, type HistoryOptions } from './history-options.ts';

const pageSize = 50;

/**
 * The branch that ends with a message, as much of it as the limits allow. It begins with a user's message where it was cut:
 * an answer without its question, or a result without its call, would be refused.
 */
export async function readBranch(
  store: Store,
  query: { threadId: string; leafId: string },
  { maxMessages, maxTokens, countTokens = defaultTokens }: HistoryOptions,
): Promise<CanonicalMessage[]> {
  if (maxTokens === undefined) {
    if (maxMessages === undefined) return store.listMessages(query);
    return fromQuestion(await store.listMessages({ ...query, limit: maxMessages + 1 }), maxMessages);
  }
  const kept: CanonicalMessage[] = [];
  let tokens = 0;
  for (;;) {
    const before = kept[0] && { cursor: { before: kept[0].id } };
    // oxlint-disable-next-line no-await-in-loop -- one page after the other, as far as the tokens go
    const page = await store.listMessages({ ...query, ...before, limit: pageSize });
    for (const message of page.toReversed()) {
      tokens += countTokens(message);
      const isFull = tokens > maxTokens || kept.length === (maxMessages ?? Infinity);
      if (isFull && kept.length > 0) return fromQuestion([message, ...kept], kept.length);
      kept.unshift(message);
    }
    if (page.length < pageSize) return kept;
  }
}

/** The last `count`, from the first question on. What was not cut stays as it is. */
function fromQuestion(messages: CanonicalMessage[], count: number): CanonicalMessage[] {
  if (messages.length <= count) return messages;
  const last = messages.slice(messages.length - count);
  const first = last.findIndex(({ role }) => role === 'user');
  return first === -1 ? last.slice(-1) : last.slice(first);
}
