import { toAiSdkMessages, toUIMessages } from '@intertie/ai-sdk';
import type { CanonicalMessage, Store } from '@intertie/core';
import type { ModelMessage, UIMessage } from 'ai';

/** Stored messages, `useChat` messages, or `streamText` messages. */
export type HistoryFormat = 'canonical' | 'ui' | 'model';
export type HistoryMessages = { canonical: CanonicalMessage[]; ui: UIMessage[]; model: ModelMessage[] };

export type HistoryQuery<Format extends HistoryFormat = HistoryFormat> = {
  threadId: string;
  /** Maximum number of messages, counted from the newest. Default: all. */
  limit?: number;
  /** `cursor` of the previous page: returns older messages. */
  cursor?: string;
  /** Last message of the branch. Default: the active branch. */
  leafId?: string;
  /** Default: `canonical`. */
  format?: Format;
};

/** Messages of a thread, oldest first. Without a `cursor` there are no older messages. */
export type HistoryPage<Format extends HistoryFormat> = { messages: HistoryMessages[Format]; cursor?: string };

/** Reads one page of a thread's branch and converts it to the requested format. */
export async function readHistory<Format extends HistoryFormat>(
  store: Store,
  { threadId, limit, cursor, leafId, format }: HistoryQuery<Format>,
): Promise<HistoryPage<Format>> {
  const found = await store.listMessages({
    threadId,
    // One extra message shows whether there are older ones.
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
