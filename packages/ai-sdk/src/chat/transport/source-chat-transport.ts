import { generateId, type AgentSource, type Fault, type RunInput } from '@intertie/core';
import { ChatMemory } from '../handler/chat-memory.ts';
import { readChatRequest } from '../handler/chat-request.ts';
import { runChat, type ChatEncoderOptions } from '../handler/chat-run.ts';
import { toRunInput } from '../handler/read-chat-request.ts';
import { omit } from '../../shared/read-fields.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';
import type { PrepareRun } from '../handler/prepare-run.ts';

/** The chat runs in the same process, so its messages are not limited as those of a remote client. */
const unlimited = { messages: Infinity, parts: Infinity };

export interface SourceChatTransportOptions<
  Version extends UIMessageVersion = UIMessageVersion,
> extends ChatEncoderOptions<Version> {
  /** What a run is given beside the history: the client's tools, context, state. */
  prepare?: PrepareRun<{ metadata?: unknown; body?: object }>;
  /** Text of the error that ended the run. Default: the error's message, since page and run share a process. */
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

/** What a chat of `ai` 6 or 7 asks a transport with for a stream that it may have missed. */
export type ReconnectOptions = {
  chatId: string;
  abortSignal?: AbortSignal;
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
    const { prepare, generateId: mint = generateId, now = Date.now, onLoss = () => undefined } = this.#options;
    signal?.throwIfAborted();
    const request = readChatRequest({ id, trigger, messages, messageId }, { generateId: mint, limits: unlimited });
    const memory = this.#memory;
    const run = toRunInput(request, { memory, generateId: mint, now, onLoss });
    const prepared = await prepare?.(run, { metadata, ...(body && { body }) });
    signal?.throwIfAborted();
    return this.chunksOf(this.#source, { ...run, ...prepared }, signal);
  };

  /** A run ends with its reader, so there is none to come back to: null. A transport to runs that stay says otherwise. */
  reconnectToStream = async (_options: ReconnectOptions): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> =>
    null;

  /** A run of a source as the chunks of its message. */
  protected chunksOf(
    source: AgentSource,
    run: RunInput,
    signal: AbortSignal | undefined,
  ): ReadableStream<UIMessageChunkOf<Version>> {
    const { errorText = messageOf, ...encoding } = omit(this.#options, 'prepare', 'generateId', 'now');
    return runChat<Version>(source, run, { ...encoding, signal, memory: this.#memory, errorText });
  }
}

function messageOf({ message }: Fault): string {
  return message;
}
