export type { AgentSource, RunControl, Topology } from './event/agent-source.ts';
export { applyAnswer } from './message/apply-answer.ts';
export { decodeBase64, encodeBase64 } from './json/base64.ts';
export { readBlobUrl, toBlobUrl } from './store/blob-url.ts';
export type { BlobInfo, Blobs, ByteRange } from './store/blobs.ts';
export { capJson } from './json/cap-json.ts';
export type { TruncatedJson } from './json/cap-json.ts';
export { coalesce } from './codec/coalesce.ts';
export type { CoalesceOptions } from './codec/coalesce.ts';
export { compose, transcode } from './codec/codec.ts';
export type { Codec, Emit, Encoder, End } from './codec/codec.ts';
export { toTransformStream } from './codec/codec-stream.ts';
export { DatabaseAwayError } from './store/database-away-error.ts';
export type { DetachedAppended, DetachedLog, DetachedPosition } from './run/detached-log.ts';
export type { Checker, Dialect, Report, Rule, Violation } from './codec/dialect.ts';
export type { AgentEvent, AgentEventType, EventOf, Timing } from './event/event.ts';
export { decisionsOf } from './store/decisions-of.ts';
export type { Answered, AnswerOptions, DurableAgent, DurableRun, NewMessage, RunRequest } from './run/durable-agent.ts';
export type { Fault } from './event/fault.ts';
export { followRun } from './run/follow-run.ts';
export type { Followed, FollowOptions } from './run/follow-run.ts';
export { growMessage } from './message/grow-message.ts';
export type { Hint, Hints } from './store/hints.ts';
export { iterate } from './stream/iterate.ts';
export { createInMemoryStore } from './store/in-memory/in-memory-store.ts';
export type { InMemoryStoreOptions } from './store/in-memory/in-memory-store.ts';
export { applyPatch, equalJson } from './json/json-patch.ts';
export type { Op, Patched } from './json/json-patch.ts';
export type { Json, JsonObject, Meta } from './json/json.ts';
export type { Loss, OnLoss } from './json/loss.ts';
export type {
  ConnectionCounts,
  FileBytesPart,
  ListMessages,
  ListThreads,
  MemoryStore,
  MessageChange,
  MessageInput,
  SavedMessages,
  SaveMessages,
  Store,
  ThreadInput,
  ThreadPage,
} from './store/memory-store.ts';
export { mergeMeta, mergeMetadata } from './event/merge-meta.ts';
export type { MessageSnapshot } from './message/message-snapshot.ts';
export { MessageFormatError } from './json/message-format-error.ts';
export type { MessageFormatErrorCode } from './json/message-format-error.ts';
export { decodeMessage, encodeMessage } from './message/message-json.ts';
export type { DecodeMessageOptions } from './message/message-json.ts';
export { foldEvents, MessageList } from './message/message-list.ts';
export type { MessageListOptions } from './message/message-list.ts';
export { messageFormat, messageUpgrades } from './event/message-upgrades.ts';
export type { MessageUpgrades } from './event/message-upgrades.ts';
export type {
  AgentEntry,
  AskedQuestion,
  CanonicalMessage,
  DataPart,
  FilePart,
  InterjectionPart,
  MessageContent,
  MessageContentV2,
  MessagePart,
  MessageRole,
  MessageStatus,
  MessageType,
  QuestionPart,
  ReasoningPart,
  RunEntry,
  SourcePart,
  StepEntry,
  TextPart,
  Thread,
  ToolPart,
  ToolState,
} from './event/message.ts';
export { outcomeOf, outcomeOfCut } from './codec/outcome-of.ts';
export type { Outcome, Waiting } from './event/outcome.ts';
export type {
  AgentBody,
  Answer,
  CallBody,
  DataBody,
  Executor,
  FileBody,
  InterjectionBody,
  Question,
  Said,
  SourceBody,
} from './event/part-body.ts';
export { createPartIds } from './event/part-ids.ts';
export type { PartIds } from './event/part-ids.ts';
export { pause } from './stream/pause.ts';
export { playTape } from './tape/play-tape.ts';
export type { PlayTapeOptions } from './tape/play-tape.ts';
export { pullStream } from './stream/pull-stream.ts';
export type { PullStreamOptions } from './stream/pull-stream.ts';
export { parseTape, readTape } from './tape/read-tape.ts';
export type { ReadTapeOptions, TapeLine } from './tape/read-tape.ts';
export { recordTape, timeItems } from './tape/record-tape.ts';
export type { RecordTapeOptions } from './tape/record-tape.ts';
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
  RunRecord,
  RunState,
  Started,
  StartRequest,
  StartResult,
  StopResult,
  TakeOverOptions,
} from './store/registry.ts';
export { recoverRun } from './run/recover-run.ts';
export { rekey } from './tape/rekey.ts';
export { repairHistory } from './message/repair-history.ts';
export type { Repair, RepairedHistory, RepairOptions } from './message/repair-history.ts';
export { createRunFlusher } from './run/run-flusher.ts';
export type { FlushReport, LocalReader, LocalRuns, RunFlusher, RunFlusherOptions } from './run/run-flusher.ts';
export type { RunInput, ToolDescription } from './event/run-input.ts';
export type { Appended, LogBatch, LogPage, LogPosition, RunKey, RunLog, RunPosition } from './store/run-log.ts';
export { RunLostError } from './store/run-lost-error.ts';
export type { RunLostReason } from './store/run-lost-error.ts';
export { RunRefusedError } from './store/run-refused-error.ts';
export type { RunRefusal } from './store/run-refused-error.ts';
export { createRunWatcher } from './run/run-watcher.ts';
export type { PositionListener, RunWatcher, RunWatcherOptions } from './run/run-watcher.ts';
export type { CommittedBatch, RunWriter, RunWriterOptions, UnwrittenEnd } from './run/run-writer.ts';
export { localScope, toScope } from './store/scope.ts';
export type { Scope } from './store/scope.ts';
export { seal } from './codec/seal.ts';
export type { SealOptions } from './codec/seal.ts';
export { sealStream } from './codec/seal-stream.ts';
export type { SealStreamOptions } from './codec/seal-stream.ts';
export { copySealedMark } from './codec/sealed-stream.ts';
export type { SealedStream } from './codec/sealed-stream.ts';
export type { SourceInput } from './codec/source-input.ts';
export { sourceStream } from './codec/source-stream.ts';
export type { SourceStreamOptions } from './codec/source-stream.ts';
export { splitLines } from './tape/split-lines.ts';
export type { Line } from './tape/split-lines.ts';
export { endByAbort } from './codec/stop-reason.ts';
export type { StopReason } from './codec/stop-reason.ts';
export { StoreError } from './store/store-error.ts';
export type { StoreErrorCode } from './store/store-error.ts';
export { checkStoreId } from './store/store-id.ts';
export { createSweeper } from './run/sweeper.ts';
export type { Sweeper, SweeperOptions, Swept } from './run/sweeper.ts';
export { CANONICAL, TAPE_VERSION } from './tape/tape.ts';
export type { Tape, TapeHeader, TapeItem } from './tape/tape.ts';
export { TapeError } from './tape/tape-error.ts';
export type { TapeErrorType } from './tape/tape-error.ts';
export { tapeSource } from './tape/tape-source.ts';
export type { TapeSourceOptions } from './tape/tape-source.ts';
export { toFault } from './event/to-fault.ts';
export { toJson } from './json/to-json.ts';
export { toReadableStream } from './stream/to-readable-stream.ts';
export { isSettled } from './codec/tool-part.ts';
export type { ToolAnswer, ToolResult } from './event/tool-result.ts';
export { unfold, unfoldContent } from './message/unfold.ts';
export type { FinishReason, Usage } from './event/usage.ts';
export { createUuidV7, generateId } from './json/uuid-v7.ts';
export type { GenerateId, UuidV7Options } from './json/uuid-v7.ts';
export { eventTypes, isEventType, readEvent, validateEvent } from './event/validate-event.ts';
export type { EventProblem } from './event/validate-event.ts';
export { formatTape, writeTape } from './tape/write-tape.ts';
export { withDetachedLog } from './run/with-detached-log.ts';
export type { DetachedLogOptions } from './run/with-detached-log.ts';
