export type { BlobInfo, Blobs, ByteRange } from './store/blobs.ts';
export type { DetachedAppended, DetachedLog, DetachedPosition } from './run/detached-log.ts';
export { collectDecisions } from './store/collect-decisions.ts';
export type { NewMessage } from './run/durable-agent.ts';
export { mergeMessage, replaceMessage } from './message/merge-message.ts';
export type { Hint, Hints } from './store/hints.ts';
export type {
  ConnectionCounts,
  ListMessages,
  ListThreads,
  MessageChange,
  MessageInput,
  SavedMessages,
  SaveMessages,
  ThreadInput,
  ThreadPage,
} from './store/store.ts';
export type { AskedQuestion, MessageType } from './event/message.ts';
export type { Waiting } from './event/outcome.ts';
export type {
  AnswerRequest,
  AnswerResult,
  AnswerVerdict,
  Attached,
  BusyPolicy,
  Continuation,
  Decision,
  DecisionRequest,
  FinishRequest,
  FinishResult,
  ListOwned,
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
export type { RunLostReason } from './store/run-lost-error.ts';
export type { RunRefusal } from './store/run-refused-error.ts';
export type { PositionListener } from './run/run-watcher.ts';
export { localScope, toScope } from './store/scope.ts';
export type { Scope } from './store/scope.ts';
export type { StoreErrorCode } from './store/store-error.ts';
export { checkStoreId } from './store/store-id.ts';
export type { ToolAnswer } from './event/tool-result.ts';
export type { DetachedLogOptions } from './run/with-detached-log.ts';
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
export { defaultLeaseMs } from './store/default-lease.ts';
export { toLogText } from './store/rules/log-text.ts';
export { toNearestJson, readContent, readJson, readMessage } from './store/rules/read-message.ts';
export { readSaveMode } from './store/rules/save-mode.ts';
export type { SaveMode } from './store/rules/save-mode.ts';
export { checkStoreText, isStoreText } from './store/store-text.ts';
