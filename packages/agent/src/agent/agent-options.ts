import type { ModelSourceOptions } from '@intertie/ai-sdk';
import type { Answer, AgentSource, CanonicalMessage, OnLoss, RunRequest, Store } from '@intertie/core';
import type { NewMessage, ToolAnswer } from '@intertie/core/store';
import type { LanguageModel, ModelMessage, ToolSet, UIMessage } from 'ai';
import type { AgentDefinition } from '../execution/agent-definition.ts';
import type { HistoryOptions, RetainReasoning } from '../history/history-options.ts';
import type { MessageStore } from '../history/message-store.ts';
import type { RunHost } from '../execution/run-host.ts';
import type { StoreReasoning } from '../history/store-reasoning.ts';

export type SharedOptions = {
  /** The agent's name in the store. The model's or the source's unless given. */
  name?: string;
  /**
   * Keeps messages and runs. An object with only the four methods of `MessageStore` keeps the messages; runs are then kept in
   * memory. Default: both in memory.
   */
  store?: Store | MessageStore;
  /** What runs them in this process. All agents of a store share one unless given. */
  host?: RunHost;
  /** The title of a new thread. The first words of its first message unless given. */
  title?: AgentDefinition['title'];
  /** How much of a thread the model is told. All of it unless limited. */
  history?: HistoryOptions;
  /** Which stored reasoning of earlier messages is sent to the model. Default: `all`. */
  retainReasoning?: RetainReasoning;
  /** Which reasoning is written to the store, and so sent to clients. Default: `all`. */
  storeReasoning?: StoreReasoning;
  onLoss?: OnLoss;
};

export type ModelAgentOptions<Tools extends ToolSet> = SharedOptions &
  Omit<ModelSourceOptions, 'name' | 'tools'> & { model: LanguageModel; tools?: Tools; source?: never };

export type SourceAgentOptions = SharedOptions & { source: AgentSource; model?: never };

export type AgentOptions<Tools extends ToolSet = ToolSet> = ModelAgentOptions<Tools> | SourceAgentOptions;

export type StreamRequest = Omit<RunRequest, 'message'> & {
  /** What the user says: a text, or a message with files. */
  message?: string | NewMessage;
  /** Or the messages of a chat. The history is the store's: of these, only the last one is taken, and where it belongs. */
  messages?: ReadonlyArray<UIMessage | ModelMessage>;
  /** Answers to what the last run of the thread waits for; its continuation is the run. */
  answers?: ReadonlyArray<Answer | ToolAnswer>;
  /** Stops the run. A reader who leaves does not. */
  signal?: AbortSignal;
};

/** A run that has ended, as a whole. */
export type GeneratedAnswer = {
  text: string;
  message: CanonicalMessage;
  runId: string;
  threadId: string;
};
