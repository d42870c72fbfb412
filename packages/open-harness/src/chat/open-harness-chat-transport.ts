import {
  createUIMessageEncoder,
  SourceChatTransport,
  type SendMessagesOptions,
  type SourceChatTransportOptions,
  type UIMessageChunkOf,
  type UIMessageVersion,
} from '@intertie/ai-sdk';
import { compose, toTransformStream, type AgentSource, type Codec, type RunInput } from '@intertie/core';
import { defined, override } from '@intertie/core/internal';
import { createFlowChunks, type FlowChunkOptions } from '../encode/flow-chunks.ts';
import {
  openHarnessSource,
  type OpenHarnessSourceOptions,
  type RuntimeOrFactory,
} from '../source/open-harness-source.ts';
import type { RunStoreLike } from '../runtime/runtime.ts';
import { SharedStream } from '../runtime/shared-stream.ts';
import { storedFlow } from '../source/stored-flow.ts';

export interface OpenHarnessChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion>
  extends OpenHarnessSourceOptions, FlowChunkOptions, Omit<SourceChatTransportOptions<Version>, 'staticTools'> {
  /** Generates the id of every assistant message. Default: a UUID. */
  generateMessageId?: () => string;
  /** Stops or continues a run whose last reader disconnects without an abort. Default: `stop`. */
  onDisconnect?: 'stop' | 'continue';
  /** Store of the runtime, to reconnect to a chat from another process. */
  runStore?: RunStoreLike;
  /** Returns the flow run in the store that answers a chat. */
  flowRunId?: (chatId: string) => string | undefined | Promise<string | undefined>;
}

/** `ChatTransport` that runs a flow in this process, for `useChat` and every other chat of `ai` 6 and 7. */
export class OpenHarnessChatTransport<Version extends UIMessageVersion = 6> {
  #transport: SourceChatTransport<Version>;
  #options: OpenHarnessChatTransportOptions<Version>;
  /** Running streams by chat. */
  #streams = new Map<string, SharedStream<UIMessageChunkOf<Version>>>();

  constructor(runtimeOrFactory: RuntimeOrFactory, options: OpenHarnessChatTransportOptions<Version> = {}) {
    const { generateMessageId, tools = [], prepare, errorText, generateId, now } = options;
    const { version, sendReasoning, sendSources, includeInternal, onLoss } = options;
    const source = openHarnessSource(runtimeOrFactory, options);
    this.#options = options;
    this.#transport = new SourceChatTransport<Version>(withMessageIds(source, generateMessageId), {
      staticTools: tools,
      ...defined({ prepare, errorText, generateId, now, version, sendReasoning, sendSources, includeInternal, onLoss }),
    });
  }

  sendMessages = async (options: SendMessagesOptions): Promise<ReadableStream<UIMessageChunkOf<Version>>> => {
    const { chatId } = options;
    const { onDisconnect = 'stop' } = this.#options;
    const chunks = (await this.#transport.sendMessages(options)).pipeThrough(toTransformStream(this.#flowChunks()));
    const shared = new SharedStream(chunks, {
      onDisconnect,
      onOver: () => {
        if (this.#streams.get(chatId) === shared) this.#streams.delete(chatId);
      },
    });
    this.#streams.set(chatId, shared);
    return shared.open();
  };

  /** Returns the whole current message of a chat from the running stream, else from the runtime's store, else null. */
  reconnectToStream = async (options: {
    chatId: string;
  }): Promise<ReadableStream<UIMessageChunkOf<Version>> | null> => {
    const { chatId } = options;
    const shared = this.#streams.get(chatId);
    if (shared !== undefined) return shared.open();
    const { runStore, flowRunId, now = Date.now, tools = [] } = this.#options;
    const stored = await flowRunId?.(chatId);
    if (runStore === undefined || stored === undefined) return null;
    const run: RunInput = {
      runId: stored,
      threadId: chatId,
      messageId: stored,
      startedAt: now(),
      history: [],
      answers: [],
      tools: [],
      context: [],
    };
    const { version, sendReasoning, sendSources, includeInternal, onLoss } = this.#options;
    const encoder = createUIMessageEncoder<Version>({
      baseline: 'restate',
      staticTools: tools,
      ...defined({ version, sendReasoning, sendSources, includeInternal, onLoss }),
    });
    return storedFlow(runStore, stored, run, this.#options).pipeThrough(
      toTransformStream(compose(encoder, this.#flowChunks())),
    );
  };

  #flowChunks(): Codec<UIMessageChunkOf<Version>, UIMessageChunkOf<Version>> {
    // The codec only removes chunks and adds steps, which exist in both versions.
    type Chunk = UIMessageChunkOf<Version>;
    return createFlowChunks(this.#options) as unknown as Codec<Chunk, Chunk>;
  }
}

/** Creates an `OpenHarnessChatTransport`. */
export function createOpenHarnessChatTransport<Version extends UIMessageVersion = 6>(
  runtimeOrFactory: RuntimeOrFactory,
  options: OpenHarnessChatTransportOptions<Version> = {},
): OpenHarnessChatTransport<Version> {
  return new OpenHarnessChatTransport<Version>(runtimeOrFactory, options);
}

/** Replaces the ids of new messages. A continued message keeps its id. */
function withMessageIds(source: AgentSource, generateMessageId: (() => string) | undefined): AgentSource {
  if (generateMessageId === undefined) return source;
  return override(source, {
    run: (run, control) =>
      source.run(run.message === undefined ? { ...run, messageId: generateMessageId() } : run, control),
  });
}
