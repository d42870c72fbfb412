import type { AGUIEvent } from './ag-ui-event.ts';

/**
 * How more words of what was said last are told. Each who has such words makes its own `say`, and not one place for all: there the
 * engine would see several kinds of events and of keeping, and compile none of them into its caller.
 */
export interface MoreWords {
  /** The event that they are. Keeps them too, if somebody will ask for them. */
  readonly say: (delta: string) => AGUIEvent;
  /** Keeps them, for whoever has no need of the event. */
  readonly keep: ((delta: string) => void) | undefined;
}

/**
 * Words as an event. A function that holds what all events of its kind have in common: what the engine has compiled for the
 * fields of an object it throws away with the last such object, and after a run there is none.
 */
export type SayMore = (delta: string, timestamp?: number) => AGUIEvent;

/** With the time or without, each in one go: what is added to an object later is kept apart from it. */
export const sayMore = {
  text:
    (messageId: string): SayMore =>
    (delta, timestamp) =>
      timestamp === undefined
        ? { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
        : { type: 'TEXT_MESSAGE_CONTENT', messageId, delta, timestamp },

  textChunk:
    (messageId: string): SayMore =>
    (delta, timestamp) =>
      timestamp === undefined
        ? { type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta }
        : { type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta, timestamp },

  reasoning:
    (messageId: string): SayMore =>
    (delta, timestamp) =>
      timestamp === undefined
        ? { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }
        : { type: 'REASONING_MESSAGE_CONTENT', messageId, delta, timestamp },

  call:
    (toolCallId: string): SayMore =>
    (delta, timestamp) =>
      timestamp === undefined
        ? { type: 'TOOL_CALL_ARGS', toolCallId, delta }
        : { type: 'TOOL_CALL_ARGS', toolCallId, delta, timestamp },

  callChunk:
    (toolCallId: string, toolCallName: string, parentMessageId: string): SayMore =>
    (delta, timestamp) =>
      timestamp === undefined
        ? { type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName, parentMessageId, delta }
        : { type: 'TOOL_CALL_CHUNK', toolCallId, toolCallName, parentMessageId, delta, timestamp },
};
