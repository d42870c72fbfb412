import type { ModelSourceOptions } from '@intertie/ai-sdk';
import type {
  Answer,
  AgentSource,
  CanonicalMessage,
  OnLoss,
  RunRequest,
  Store,
  StopOnDisconnect,
} from '@intertie/core';
import type { NewMessage, ToolAnswer } from '@intertie/core/store';
import type { LanguageModel, ModelMessage, ToolSet, UIMessage } from 'ai';
import type { AgentDefinition } from '../execution/agent-definition.ts';
import type { HistoryOptions, RetainReasoning } from '../history/history-options.ts';
import type { MessageStore } from '../history/message-store.ts';
import type { RunHost } from '../execution/run-host.ts';
import type { StoreReasoning } from '../history/store-reasoning.ts';

export type SharedOptions = {
  /** Name of the agent in the store. Default: the name of the model or the source. */
  name?: string;
  /**
   * Stores messages and runs. An object with only the four methods of `MessageStore` stores the messages, and runs stay in
   * memory. Default: both in memory.
   */
  store?: Store | MessageStore;
  /** Executes the runs in this process. Default: one host that all agents of the store share. */
  host?: RunHost;
  /** Title of a new thread. Default: the beginning of its first message. */
  title?: AgentDefinition['title'];
  /** Limits the part of a thread that is sent to the model. Default: the newest 200 messages of the branch. */
  history?: HistoryOptions;
  /** Which stored reasoning of earlier messages is sent to the model. Default: `all`. */
  retainReasoning?: RetainReasoning;
  /** Which reasoning is written to the store, and so sent to clients. Default: `all`. */
  storeReasoning?: StoreReasoning;
  /**
   * Stops a run when its last reader has left for `afterMs`, for clients that can stop a run only by disconnecting. Readers of
   * all processes count. A run that was never read, or that waits for an answer, is not stopped. Default: a run continues.
   */
  stopOnDisconnect?: StopOnDisconnect;
  onLoss?: OnLoss;
};

export type ModelAgentOptions<Tools extends ToolSet> = SharedOptions &
  Omit<ModelSourceOptions, 'name' | 'tools'> & { model: LanguageModel; tools?: Tools; source?: never };

export type SourceAgentOptions = SharedOptions & { source: AgentSource; model?: never };

export type AgentOptions<Tools extends ToolSet = ToolSet> = ModelAgentOptions<Tools> | SourceAgentOptions;

export type StreamRequest = Omit<RunRequest, 'message'> & {
  /** The user's message: a text, or a message with files. */
  message?: string | NewMessage;
  /** Alternative to `message`: the messages of a chat. Only the last one is used, since the store has the history. */
  messages?: ReadonlyArray<UIMessage | ModelMessage>;
  /** Answers to the open questions of the thread's last run. The continuation of that run is returned. */
  answers?: ReadonlyArray<Answer | ToolAnswer>;
  /** Stops the run. Cancelling a stream of the run does not stop it. */
  signal?: AbortSignal;
};

/** Message of an ended run, with its public text. */
export type GeneratedAnswer = {
  text: string;
  message: CanonicalMessage;
  runId: string;
  threadId: string;
};
