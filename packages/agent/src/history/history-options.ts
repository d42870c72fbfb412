import type { CanonicalMessage, MessageContent, MessagePart } from '@intertie/core';

/** How much of a thread the model is told. All of it unless limited. */
export type HistoryOptions = {
  /** At most so many messages, the newest ones. */
  maxMessages?: number;
  /** At most about so many tokens, the newest ones. The newest message is told in any case. */
  maxTokens?: number;
  /** What a message costs. A fourth of the length of its JSON unless given. */
  countTokens?: (message: CanonicalMessage) => number;
};

/**
 * What the model is told of what it thought in earlier messages: all of it, only what its provider signed or sealed, or
 * nothing. The message that a run goes on with is always told whole.
 */
export type RetainReasoning = 'all' | 'metadata-only' | 'none';

export function defaultTokens({ content }: CanonicalMessage): number {
  return Math.ceil(JSON.stringify(content.parts).length / 4);
}

/** The message without the reasoning that is not retained. */
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
