import {
  SourceChatTransport,
  type ReconnectOptions,
  type SourceChatTransportOptions,
  type UIMessageChunkOf,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import type { AgentSource, RunInput } from '@intertie/core';
import { adoptMessageId } from '../decode/adopt-message-id.ts';
import { agUiSourceWith, type AGUISourceOptions } from './ag-ui-source.ts';
import { findReplay } from './find-replay.ts';

export type AGUIChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> = AGUISourceOptions &
  SourceChatTransportOptions<Version>;

/**
 * How each chat says that it stops what it asked for last. One that asks again aborts what it asked for before, and a reader
 * may leave: neither is a stop.
 */
type Stops = Map<string, AbortSignal | undefined>;

/**
 * An AG-UI agent behind `useChat`: its texts, reasoning and tools are the parts of a message, its interrupts are approvals or
 * questions, its state and activities are data parts. Tools that the page runs are given by `prepare`. Stopping the chat stops
 * the run.
 */
export class AGUIChatTransport<Version extends UIMessageVersion = 6> extends SourceChatTransport<Version> {
  /** What is resumed is told from its beginning, under the message's id. */
  readonly resumeStreamIsReplay: boolean = true;
  #options: AGUIChatTransportOptions<Version>;
  #stops: Stops;

  constructor(options: AGUIChatTransportOptions<Version>) {
    const stops: Stops = new Map();
    const isStopped = ({ threadId }: RunInput): boolean => stops.get(threadId)?.aborted === true;
    super(agUiSourceWith(options, { begin: adoptMessageId, isStopped }), options);
    this.#options = options;
    this.#stops = stops;
  }

  /**
   * All of the message that is being written, that has just been written, or that waits for an answer, where the agent is one
   * whose runs are kept (`createAGUIHandler(agent)`). Null: there is none, or the agent cannot say.
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
    // Not by our own: the chat may have asked again by now.
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
