import {
  SourceChatTransport,
  type ReconnectOptions,
  type SourceChatTransportOptions,
  type UIMessageChunkOf,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import type { AgentSource, RunInput } from '@intertie/core';
import { adoptMessageId } from '../decode/adopt-message-id.ts';
import { agUiSourceWith, type AGUIRequestOptions } from './ag-ui-source.ts';
import { findReplay } from './find-replay.ts';

export type AGUIChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> = AGUIRequestOptions &
  SourceChatTransportOptions<Version>;

/**
 * Abort signal of the last request of each chat. Only its abort is a stop: a chat that sends again aborts the previous request,
 * and a reader may leave.
 */
type Stops = Map<string, AbortSignal | undefined>;

/**
 * `ChatTransport` for an AG-UI agent: text, reasoning and tools become message parts, interrupts become approvals or questions,
 * state and activities become data parts. `prepare` adds tools that the page executes. Stopping the chat stops the run.
 */
export class AGUIChatTransport<Version extends UIMessageVersion = 6> extends SourceChatTransport<Version> {
  /** Resumed messages are streamed from their start, under the same id. */
  readonly resumeStreamIsReplay: boolean = true;
  #options: AGUIChatTransportOptions<Version>;
  #stops: Stops;

  constructor(options: AGUIChatTransportOptions<Version>) {
    const stops: Stops = new Map();
    const isStopped = ({ threadId }: RunInput): boolean => stops.get(threadId)?.aborted === true;
    super(agUiSourceWith(options, { createCodec: adoptMessageId, isStopped }), options);
    this.#options = options;
    this.#stops = stops;
  }

  /**
   * Resumes the message that is live, has just ended, or waits for an answer, if the agent has durable runs
   * (`createAGUIHandler(agent)`). Returns null if there is none, or the agent does not support it.
   */
  override reconnectToStream = async (
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> => {
    const { chatId, abortSignal } = options;
    const { stopOnAbort = true } = this.#options;
    this.#stops.set(chatId, abortSignal);
    const isStopped = (): boolean =>
      stopOnAbort && abortSignal?.aborted === true && this.#stops.get(chatId) === abortSignal;
    const found = await findReplay(chatId, this.#options, { signal: abortSignal, isStopped });
    // Not `this.chunksOf`, which would set the signal: the chat may have sent a new request meanwhile.
    return found && super.chunksOf(found.source, found.run, abortSignal);
  };

  protected override chunksOf(
    source: AgentSource,
    run: RunInput,
    signal: AbortSignal | undefined,
  ): ReadableStream<UIMessageChunkOf<Version>> {
    this.#stops.set(run.threadId, signal);
    return super.chunksOf(source, run, signal);
  }
}
