export { Agent } from './agent/agent.ts';
export type { AgentRuntime } from './agent/agent-runtime.ts';
export type { AgentDefinition, TitleRequest } from './execution/agent-definition.ts';
export type {
  AgentOptions,
  GeneratedAnswer,
  ModelAgentOptions,
  SharedOptions,
  SourceAgentOptions,
  StreamRequest,
} from './agent/agent-options.ts';
export type { HistoryOptions, RetainReasoning } from './history/history-options.ts';
export type { ImportReport, ImportRequest } from './agent/import-messages.ts';
export type { InferIntertieUIMessage, IntertieDataParts, IntertieMetadata } from './agent/infer-ui-message.ts';
export type { MessageStore, StoredThread } from './history/message-store.ts';
export type { PendingRun } from './agent/pending-run.ts';
export { createRunHost } from './execution/run-host.ts';
export type { CloseOptions, RunHost, RunHostOptions } from './execution/run-host.ts';
export type { RunObserver, RunResult } from './telemetry/run-observer.ts';
export type { IterableStream, Run, UIMessageResponseOptions } from './agent/run.ts';
export type { StoreReasoning } from './history/store-reasoning.ts';
export type { StoredRun } from './execution/stored-run.ts';
export { sumUsage } from '@intertie/core/internal';
export type { HistoryFormat, HistoryMessages, HistoryPage, HistoryQuery } from './history/thread-history.ts';
export type { KnownUsage, UsageReport } from './telemetry/thread-usage.ts';
