import {
  SourceChatTransport,
  type ReconnectOptions,
  type SourceChatTransportOptions,
  type UIMessageChunkOf,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import { adoptMessageId } from './adopt-message-id.ts';
import { agUiSourceWith, type AGUISourceOptions } from './ag-ui-source.ts';
import { findReplay } from './find-replay.ts';

export type AGUIChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> = AGUISourceOptions &
  SourceChatTransportOptions<Version>;

/**
 * An AG-UI agent behind `useChat`: its texts, reasoning and tools are the parts of a message, its interrupts are approvals or
 * questions, its state and activities are data parts. Tools that the page runs are given by `prepare`.
 */
export class AGUIChatTransport<Version extends UIMessageVersion = 6> extends SourceChatTransport<Version> {
  /** What is resumed is told from its beginning, under the message's id. */
  readonly resumeStreamIsReplay: boolean = true;
  #options: AGUIChatTransportOptions<Version>;

  constructor(options: AGUIChatTransportOptions<Version>) {
    super(agUiSourceWith(options, adoptMessageId), options);
    this.#options = options;
  }

  /**
   * All of the message that is being written, that has just been written, or that waits for an answer, where the agent is one
   * whose runs are kept (`createAGUIHandler(agent)`). Null: there is none, or the agent cannot say.
   */
  override reconnectToStream = async (
    options: ReconnectOptions,
  ): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> => {
    const { chatId, abortSignal } = options;
    const found = await findReplay(chatId, this.#options, abortSignal);
    return found && this.chunksOf(found.source, found.run, abortSignal);
  };
}
