import { StoreError, type CanonicalMessage, type Store } from '@intertie/core';
import { defaultMaxMessages, estimateTokens, type HistoryOptions } from './history-options.ts';

const pageSize = 50;

type BranchQuery = {
  threadId: string;
  messageId: string;
  /** The newest messages, at least `getReadLimit` of them or the complete branch, if they were already read. */
  known?: CanonicalMessage[];
};

/** A message and the messages before it on its branch. */
export type Branch = { message: CanonicalMessage; before: CanonicalMessage[] };

/**
 * Reads a message and the part of its branch that the limits allow, in as few reads as possible. A shortened branch begins
 * with a user message: providers reject an answer without its question, and a tool result without its call.
 */
export async function readBranch(store: Store, query: BranchQuery, options: HistoryOptions): Promise<Branch> {
  const { maxTokens } = options;
  const maxMessages = getMaxMessages(options);
  const { threadId, messageId: leafId } = query;
  const limit = getReadLimit(options);
  const page = query.known
    ? [...query.known]
    : await store.listMessages({ threadId, leafId, ...(limit < Infinity && { limit }) }).catch(emptyIfDeleted);
  const message = page.pop();
  if (!message) throw new Error(`Message ${leafId} of thread ${threadId} was deleted, so the run cannot write it.`);
  const before =
    maxTokens === undefined
      ? startAtUserMessage(page, maxMessages)
      : await limitTokens(
          maxTokens,
          page,
          (cursor) => store.listMessages({ threadId, leafId, cursor, limit: pageSize }),
          { ...options, maxMessages },
        );
  return { message, before };
}

/** Returns the maximum number of messages of the first read, the run's own included. One more shows whether the branch was shortened. */
export function getReadLimit(options: HistoryOptions): number {
  return options.maxTokens === undefined ? getMaxMessages(options) + 2 : pageSize + 1;
}

function getMaxMessages({ maxTokens, maxMessages }: HistoryOptions): number {
  return maxMessages ?? (maxTokens === undefined ? defaultMaxMessages : Infinity);
}

function emptyIfDeleted(error: unknown): CanonicalMessage[] {
  if (error instanceof StoreError && error.code === 'not-found') return [];
  throw error;
}

/** Selects the newest messages up to the token limit, and reads older pages as needed. */
async function limitTokens(
  maxTokens: number,
  newest: CanonicalMessage[],
  readOlder: (cursor: { before: string }) => Promise<CanonicalMessage[]>,
  { maxMessages, countTokens = estimateTokens }: HistoryOptions & { maxMessages: number },
): Promise<CanonicalMessage[]> {
  const selected: CanonicalMessage[] = [];
  let tokens = 0;
  for (let page = newest; ;) {
    for (const message of page.toReversed()) {
      tokens += countTokens(message);
      const isFull = tokens > maxTokens || selected.length === maxMessages;
      if (isFull && selected.length > 0) return startAtUserMessage([message, ...selected], selected.length);
      selected.unshift(message);
    }
    if (page.length < pageSize) return selected;
    page = await readOlder({ before: selected[0]!.id });
  }
}

/** Returns the last `count` messages from their first user message on. Returns all if there are no more than `count`. */
function startAtUserMessage(messages: CanonicalMessage[], count: number): CanonicalMessage[] {
  if (messages.length <= count) return messages;
  const last = messages.slice(messages.length - count);
  const first = last.findIndex(({ role }) => role === 'user');
  return first === -1 ? last.slice(-1) : last.slice(first);
}
