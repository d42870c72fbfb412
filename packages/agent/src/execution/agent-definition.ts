import type { AgentSource, CanonicalMessage, OnLoss } from '@intertie/core';
import type { HistoryOptions, RetainReasoning } from '../history/history-options.ts';
import type { StoreReasoning } from '../history/store-reasoning.ts';

/** What a title is made of. */
export type TitleRequest = { threadId: string; message: CanonicalMessage };

/** All that a process has to know of an agent to run it, whoever asked for the run. */
export type AgentDefinition = {
  readonly name: string;
  readonly source: AgentSource;
  /** The title of a new thread; undefined leaves it without one. */
  readonly title: (request: TitleRequest) => string | undefined | Promise<string | undefined>;
  readonly history: HistoryOptions;
  readonly retainReasoning: RetainReasoning;
  readonly storeReasoning: StoreReasoning;
  readonly onLoss: OnLoss;
};
