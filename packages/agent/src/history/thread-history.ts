import { toAiSdkMessages, toUIMessages } from '@intertie/ai-sdk';
import type { CanonicalMessage, Store } from '@intertie/core';
import type { ModelMessage, UIMessage } from 'ai';

/** As they are stored, as `useChat` has them, or as `streamText` takes them. */
export type HistoryFormat = 'canonical' | 'ui' | 'model';
export type HistoryMessages = { canonical: CanonicalMessage[]; ui: UIMessage[]; model: ModelMessage[] };

export type HistoryQuery<Format extends HistoryFormat = HistoryFormat> = {
  threadId: string;
  /** The newest so many. All unless given. */
  limit?: number;
  /** The `cursor` of the page before: older ones are given. */
  cursor?: string;
  /** The branch that ends here; the active one unless given. */
  leafId?: string;
  /** `canonical` unless given. */
  format?: Format;
};

/** Oldest first. No `cursor`: this page has the beginning. */
export type HistoryPage<Format extends HistoryFormat> = { messages: HistoryMessages[Format]; cursor?: string };

export async function readHistory<Format extends HistoryFormat>(
  store: Store,
  { threadId, limit, cursor, leafId, format }: HistoryQuery<Format>,
): Promise<HistoryPage<Format>> {
  const found = await store.listMessages({
    threadId,
    // One more tells whether there are more.
    ...(limit !== undefined && { limit: limit + 1 }),
    ...(cursor !== undefined && { cursor: { before: cursor } }),
    ...(leafId !== undefined && { leafId }),
  });
  const hasMore = limit !== undefined && found.length > limit;
  const page = hasMore ? found.slice(1) : found;
  const oldest = page[0];
  const messages = convert(page, format ?? 'canonical') as HistoryMessages[Format];
  return { messages, ...(hasMore && oldest && { cursor: oldest.id }) };
}

function convert(page: CanonicalMessage[], format: HistoryFormat): HistoryMessages[HistoryFormat] {
  if (format === 'ui') return toUIMessages(page);
  return format === 'model' ? toAiSdkMessages(page) : page;
}
