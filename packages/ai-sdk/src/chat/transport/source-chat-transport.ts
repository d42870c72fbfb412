import { generateId, type AgentSource, type Fault, type RunInput } from '@intertie/core';
import { ChatMemory } from '../handler/chat-memory.ts';
import { readChatRequest } from '../handler/chat-request.ts';
import { runChat, type ChatEncoderOptions } from '../handler/run-chat.ts';
import { toRunInput, type PrepareRun } from '../handler/to-run-input.ts';
import { omit } from '../../shared/read-fields.ts';
import type { UIMessageChunkOf, UIMessageVersion } from '../../ui-message-stream/chunk/ui-message-chunk.ts';

/** The chat runs in the same process, so its messages are not limited as those of a remote client. */
const unlimited = { messages: Infinity, parts: Infinity };

export interface SourceChatTransportOptions<
  Version extends UIMessageVersion = UIMessageVersion,
> extends ChatEncoderOptions<Version> {
  /** Adds client tools, context or state to each run. */
  prepare?: PrepareRun<{ metadata?: unknown; body?: object }>;
  /** Text of the error that ended the run. Default: the error's message, since page and run share a process. */
  errorText?: (error: Fault) => string;
  generateId?: () => string;
  now?: () => number;
}

/** Options of `ChatTransport.sendMessages` in `ai` 6 and 7. */
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

/** Options of `ChatTransport.reconnectToStream` in `ai` 6 and 7. */
export type ReconnectOptions = {
  chatId: string;
  abortSignal?: AbortSignal;
  headers?: Record<string, string> | Headers;
  body?: object;
  metadata?: unknown;
};

/**
 * `ChatTransport` to a source in the same process (test, Electron, worker), for `useChat` and every other chat of `ai` 6 and
 * 7. Each sent message is one run. Stopping the chat stops the run.
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
    const { prepare, generateId: createId = generateId, now = Date.now, onLoss = () => undefined } = this.#options;
    signal?.throwIfAborted();
    const request = readChatRequest({ id, trigger, messages, messageId }, { generateId: createId, limits: unlimited });
    const memory = this.#memory;
    const run = toRunInput(request, { memory, generateId: createId, now, onLoss });
    const prepared = await prepare?.(run, { metadata, ...(body && { body }) });
    signal?.throwIfAborted();
    return this.chunksOf(this.#source, { ...run, ...prepared }, signal);
  };

  /** Returns null: a run ends with its reader, so there is nothing to resume. Subclasses with durable runs override it. */
  reconnectToStream = async (_options: ReconnectOptions): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> =>
    null;

  /** Runs the source and returns the chunks of its message. */
  protected chunksOf(
    source: AgentSource,
    run: RunInput,
    signal: AbortSignal | undefined,
  ): ReadableStream<UIMessageChunkOf<Version>> {
    const { errorText = getErrorMessage, ...encoding } = omit(this.#options, 'prepare', 'generateId', 'now');
    return runChat<Version>(source, run, { ...encoding, signal, memory: this.#memory, errorText });
  }
}

function getErrorMessage({ message }: Fault): string {
  return message;
}
