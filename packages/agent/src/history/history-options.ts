import type { CanonicalMessage, MessageContent, MessagePart } from '@intertie/core';

/**
 * Maximum number of earlier messages without limits of its own. A turn then costs the same in a thread of 10,000 messages as in one
 * of 200, and few models accept a longer prompt.
 */
export const defaultMaxMessages = 200;

/** Limits of the history that is sent to the model. Default: the newest 200 messages of the branch. */
export type HistoryOptions = {
  /** Maximum number of messages; the newest are sent. `Infinity` sends the whole branch. */
  maxMessages?: number;
  /** Maximum number of tokens; the newest messages are sent, and the newest one always. */
  maxTokens?: number;
  /** Counts the tokens of a message. Default: a quarter of the length of its JSON. */
  countTokens?: (message: CanonicalMessage) => number;
};

/**
 * Which reasoning of earlier messages is sent to the model: all of it, only the metadata that its provider signed or
 * encrypted, or none. The message that a continuation extends is always sent complete.
 */
export type RetainReasoning = 'all' | 'metadata-only' | 'none';

export function estimateTokens({ content }: CanonicalMessage): number {
  return Math.ceil(JSON.stringify(content.parts).length / 4);
}

/** Removes the reasoning that is not retained. */
export function withoutReasoning(message: CanonicalMessage, retain: RetainReasoning): CanonicalMessage {
  const content = filterReasoning(message.content, retain);
  return content === message.content ? message : { ...message, content };
}

export function filterReasoning(content: MessageContent, retain: RetainReasoning): MessageContent {
  if (retain === 'all' || !content.parts.some(({ type }) => type === 'reasoning')) return content;
  const parts = content.parts.flatMap((part): MessagePart[] => {
    if (part.type !== 'reasoning') return [part];
    if (retain === 'none' || part.providerMetadata === undefined) return [];
    const { details: _, ...rest } = part;
    return [{ ...rest, reasoning: '' }];
  });
  return { ...content, parts };
}
