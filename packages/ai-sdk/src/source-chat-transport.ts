import { generateId, type AgentSource, type Fault } from '@intertie/core';
import { ChatMemory } from './chat-memory.ts';
import { readChatRequest } from './chat-request.ts';
import { runChat, type ChatEncoderOptions } from './chat-run.ts';
import { toRunInput } from './chat-turn.ts';
import type { UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';
import type { PrepareRun } from './prepare-run.ts';

export interface SourceChatTransportOptions<
  Version extends UIMessageVersion = UIMessageVersion,
> extends ChatEncoderOptions<Version> {
  /** What a run is given beside the history: the client's tools, context, state. */
  prepare?: PrepareRun<{ metadata?: unknown; body?: object }>;
  /** What the page is told of an error that ended the run. Default: the error's message. */
  errorText?: (error: Fault) => string;
  generateId?: () => string;
  now?: () => number;
}

/** What a chat of `ai` 6 or 7 calls a transport with. */
export type SendMessagesOptions = {
  trigger: 'submit-message' | 'regenerate-message';
  chatId: string;
  messageId: string | undefined;
  messages: readonly unknown[];
  abortSignal: AbortSignal | undefined;
  headers?: Record<string, string> | Headers;
  body?: object;
  metadata?: unknown;
};

/**
 * Any source in this process as a `ChatTransport`, for `useChat` and every other chat of `ai` 6 and 7: in a test, in
 * Electron, in a worker. Every message that the chat sends is one run; stopping the chat stops it.
 */
export class SourceChatTransport<Version extends UIMessageVersion = 6> {
  #source: AgentSource;
  #options: SourceChatTransportOptions<Version>;
  #memory = new ChatMemory();

  constructor(source: AgentSource, options: SourceChatTransportOptions<Version> = {}) {
    this.#source = source;
    this.#options = options;
  }

  sendMessages = async (options: SendMessagesOptions): Promise<ReadableStream<UIMessageChunkOf<Version>>> => {
    const { chatId: id, trigger, messages, messageId, abortSignal: signal, metadata, body } = options;
    const { prepare, errorText = messageOf, ...encoding } = this.#options;
    const { generateId: mint = generateId, now = Date.now, onLoss = () => undefined, ...more } = encoding;
    signal?.throwIfAborted();
    const request = readChatRequest({ id, trigger, messages, messageId }, mint);
    const memory = this.#memory;
    const run = toRunInput(request, { memory, generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { metadata, ...(body && { body }) });
    signal?.throwIfAborted();
    return runChat<Version>(this.#source, { ...run, ...prepared }, { ...more, onLoss, signal, memory, errorText });
  };

  /** A run ends with its reader, so there is none to come back to. */
  reconnectToStream = async (_options: { chatId: string }): Promise<null> => null;
}

function messageOf({ message }: Fault): string {
  return message;
}
