import { StoreError, type CanonicalMessage, type Store } from '@intertie/core';
import { defaultTokens, type HistoryOptions } from './history-options.ts';

const pageSize = 50;

type Place = {
  threadId: string;
  messageId: string;
  /** All of it, where that is known already. */
  known?: CanonicalMessage[];
};

/** A message, and what is before it on its branch. */
export type Branch = { message: CanonicalMessage; before: CanonicalMessage[] };

/**
 * A message and the branch before it, as much of that as the limits allow, in as few reads as they do. It begins with a
 * user's message where it was cut: an answer without its question, or a result without its call, would be refused.
 */
export async function readBranch(store: Store, place: Place, options: HistoryOptions): Promise<Branch> {
  const { maxMessages, maxTokens } = options;
  const { threadId, messageId: leafId } = place;
  // The message itself is one more, and so is the one that tells whether there are others.
  const limit = maxTokens !== undefined ? pageSize + 1 : maxMessages !== undefined ? maxMessages + 2 : undefined;
  const page = place.known
    ? [...place.known]
    : await store.listMessages({ threadId, leafId, ...(limit !== undefined && { limit }) }).catch(noneIfGone);
  const message = page.pop();
  if (!message) throw new Error(`Message ${leafId} of thread ${threadId} has been deleted, so nothing can be said.`);
  const before =
    maxTokens === undefined
      ? fromQuestion(page, maxMessages ?? Infinity)
      : await upTo(
          maxTokens,
          page,
          (cursor) => store.listMessages({ threadId, leafId, cursor, limit: pageSize }),
          options,
        );
  return { message, before };
}

function noneIfGone(error: unknown): CanonicalMessage[] {
  if (error instanceof StoreError && error.code === 'not-found') return [];
  throw error;
}

/** Of the newest page and those before it, as far as the tokens go. */
async function upTo(
  maxTokens: number,
  newest: CanonicalMessage[],
  readMore: (cursor: { before: string }) => Promise<CanonicalMessage[]>,
  { maxMessages = Infinity, countTokens = defaultTokens }: HistoryOptions,
): Promise<CanonicalMessage[]> {
  const kept: CanonicalMessage[] = [];
  let tokens = 0;
  for (let page = newest; ;) {
    for (const message of page.toReversed()) {
      tokens += countTokens(message);
      const isFull = tokens > maxTokens || kept.length === maxMessages;
      if (isFull && kept.length > 0) return fromQuestion([message, ...kept], kept.length);
      kept.unshift(message);
    }
    if (page.length < pageSize) return kept;
    page = await readMore({ before: kept[0]!.id });
  }
}

/** The last `count`, from the first question on. What was not cut stays as it is. */
function fromQuestion(messages: CanonicalMessage[], count: number): CanonicalMessage[] {
  if (messages.length <= count) return messages;
  const last = messages.slice(messages.length - count);
  const first = last.findIndex(({ role }) => role === 'user');
  return first === -1 ? last.slice(-1) : last.slice(first);
}
