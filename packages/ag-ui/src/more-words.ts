import type { AGUIEvent } from './ag-ui-event.ts';
import type { GrowingText } from './growing-text.ts';

/** How more words of what was said last are told: all that their events have in common. */
export interface MoreWords {
  readonly kind: 'text' | 'textChunk' | 'reasoning' | 'call' | 'callChunk';
  readonly id: string;
  /** Which only a chunk of a call says. */
  readonly toolCallName: string;
  readonly parentMessageId: string;
  readonly timestamp: number | undefined;
  /** Where they are kept, if somebody will ask for them. */
  readonly kept: GrowingText | undefined;
}

/** All fields, always in one order: to the engine these are objects of one class. */
export function moreWords({
  kind,
  id,
  toolCallName = '',
  parentMessageId = '',
  timestamp,
  kept,
}: Pick<MoreWords, 'kind' | 'id'> & Partial<MoreWords>): MoreWords {
  return { kind, id, toolCallName, parentMessageId, timestamp, kept };
}

/**
 * Words as the event that they are. With the time or without, each in one go: what is added to an object later is kept apart
 * from it.
 */
export function sayMore(words: MoreWords, delta: string): AGUIEvent {
  const { kind, id, timestamp } = words;
  switch (kind) {
    case 'text':
      return timestamp === undefined
        ? { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta }
        : { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta, timestamp };
    case 'textChunk':
      return timestamp === undefined
        ? { type: 'TEXT_MESSAGE_CHUNK', messageId: id, role: 'assistant', delta }
        : { type: 'TEXT_MESSAGE_CHUNK', messageId: id, role: 'assistant', delta, timestamp };
    case 'reasoning':
      return timestamp === undefined
        ? { type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta }
        : { type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta, timestamp };
    case 'call':
      return timestamp === undefined
        ? { type: 'TOOL_CALL_ARGS', toolCallId: id, delta }
        : { type: 'TOOL_CALL_ARGS', toolCallId: id, delta, timestamp };
    case 'callChunk': {
      const { toolCallName, parentMessageId } = words;
      return timestamp === undefined
        ? { type: 'TOOL_CALL_CHUNK', toolCallId: id, toolCallName, parentMessageId, delta }
        : { type: 'TOOL_CALL_CHUNK', toolCallId: id, toolCallName, parentMessageId, delta, timestamp };
    }
  }
}
