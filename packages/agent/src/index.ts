export { Agent } from './agent.ts';
export type { AgentHome } from './agent-home.ts';
export type { AgentDefinition, TitleRequest } from './agent-definition.ts';
export type {
  AgentOptions,
  GeneratedAnswer,
  ModelAgentOptions,
  SharedOptions,
  SourceAgentOptions,
  StreamRequest,
} from './agent-options.ts';
export type { HistoryOptions, RetainReasoning } from './history-options.ts';
export type { ImportReport, ImportRequest } from './import-messages.ts';
export type { InferIntertieUIMessage, IntertieDataParts, IntertieMetadata } from './infer-ui-message.ts';
export type { IterableStream } from './iterable-stream.ts';
export type { MessageStore, StoredThread } from './message-store.ts';
export type { PendingRun } from './pending-run.ts';
export { createRunHost } from './run-host.ts';
export type { CloseOptions, RunHost, RunHostOptions } from './run-host.ts';
export type { RunObserver, RunResult } from './run-observer.ts';
export type { Run, UIMessageResponseOptions } from './run.ts';
export type { StoreReasoning } from './store-reasoning.ts';
export type { StoredRun } from './stored-run.ts';
export { sumUsage } from './sum-usage.ts';
export type { HistoryFormat, HistoryMessages, HistoryPage, HistoryQuery } from './thread-history.ts';
export type { KnownUsage, UsageReport } from './thread-usage.ts';
