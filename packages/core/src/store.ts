/** Contract and shared rules for authors of stores: `@intertie/core/store`. */

// Contract
export type {
  ConnectionCounts,
  ListMessages,
  ListedThread,
  ListThreads,
  MessageChange,
  MessageInput,
  MessageMatch,
  SavedMessages,
  SaveMessages,
  SearchMessages,
  ThreadInput,
  ThreadPage,
} from './store/store.ts';
export type {
  AnswerRequest,
  AnswerResult,
  AnswerVerdict,
  Attached,
  BusyPolicy,
  Continuation,
  Decision,
  DecisionRequest,
  DeletedThreads,
  FinishRequest,
  FinishResult,
  LatestRun,
  LatestRunPage,
  LatestRunState,
  ListLatestRuns,
  ListOwned,
  ListRuns,
  Ownership,
  PendingPolicy,
  Queued,
  Refused,
  Registry,
  RunState,
  Started,
  StartRequest,
  StartResult,
  StopResult,
  TakeOverOptions,
} from './store/registry.ts';
export type { Appended, LogBatch, LogPage, LogPosition, RunKey, RunLog, RunPosition } from './store/run-log.ts';
export type { BlobInfo, Blobs, ByteRange } from './store/blobs.ts';
export type { Hint, Hints } from './store/hints.ts';

// Events and messages that stores hold
export type { AskedQuestion, MessageType } from './event/message.ts';
export type { Waiting } from './event/outcome.ts';
export type { ToolAnswer } from './event/tool-result.ts';
export { mergeMessage, replaceMessage } from './message/merge-message.ts';

// Ids, scopes and text
export { localScope, toScope } from './store/scope.ts';
export type { Scope } from './store/scope.ts';
export { checkStoreId } from './store/store-id.ts';
export { checkStoreText, isStoreText } from './store/store-text.ts';

// Errors
export type { StoreErrorCode } from './store/store-error.ts';
export type { RunLostReason } from './store/run-lost-error.ts';
export type { RunRefusal } from './store/run-refused-error.ts';

// Rules that every store applies
export { checkContinuation, checkStart } from './store/rules/check-request.ts';
export {
  getAnsweredId,
  isAnswerTo,
  isAwaited,
  isSameAnswer,
  judgeAnswer,
  readAnswer,
  readDecisions,
} from './store/rules/decision-rules.ts';
export { collectDecisions } from './store/collect-decisions.ts';
export { toNearestJson, readContent, readJson, readMessage } from './store/rules/read-message.ts';
export { toLogText, withoutCheckpoints } from './store/rules/log-text.ts';
export { getSearchText, toSearchTerms } from './store/rules/search-terms.ts';
export { readSaveMode } from './store/rules/save-mode.ts';
export type { SaveMode } from './store/rules/save-mode.ts';
export { defaultLeaseMs, defaultResumableLeaseMs } from './store/default-lease.ts';

// Durable runs
export type { NewMessage } from './run/durable-agent.ts';
export type { PositionListener } from './run/run-watcher.ts';
export type { DetachedAppended, DetachedLog, DetachedPosition, LogDefinition, OpenedLog } from './run/detached-log.ts';
export type { DetachedLogOptions } from './run/with-detached-log.ts';
