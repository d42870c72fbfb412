import type { AgentSource, CanonicalMessage, OnLoss, StopOnDisconnect } from '@intertie/core';
import type { HistoryOptions, RetainReasoning } from '../history/history-options.ts';
import type { StoreReasoning } from '../history/store-reasoning.ts';

/** Input of the `title` function. */
export type TitleRequest = { threadId: string; message: CanonicalMessage };

/** Everything that a process needs to execute runs of an agent. */
export type AgentDefinition = {
  readonly name: string;
  readonly source: AgentSource;
  /** Returns the title of a new thread, or undefined for none. */
  readonly title: (request: TitleRequest) => string | undefined | Promise<string | undefined>;
  readonly history: HistoryOptions;
  readonly retainReasoning: RetainReasoning;
  readonly storeReasoning: StoreReasoning;
  readonly onLoss: OnLoss;
  /** Absent: a run continues without readers. */
  readonly stopOnDisconnect?: StopOnDisconnect;
};
