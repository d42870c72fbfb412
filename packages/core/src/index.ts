export type { AgentSource, RunControl, Topology } from './agent-source.ts';
export { applyAnswer } from './apply-answer.ts';
export { decodeBase64, encodeBase64 } from './base64.ts';
export { readBlobUrl, toBlobUrl } from './blob-url.ts';
export type { BlobInfo, Blobs, ByteRange } from './blobs.ts';
export { capJson } from './cap-json.ts';
export type { TruncatedJson } from './cap-json.ts';
export { coalesce } from './coalesce.ts';
export type { CoalesceOptions } from './coalesce.ts';
export { compose, transcode } from './codec.ts';
export type { Codec, Emit, Encoder, End } from './codec.ts';
export { toTransformStream } from './codec-stream.ts';
export { DatabaseAwayError } from './database-away-error.ts';
export type { DetachedAppended, DetachedLog, DetachedPosition } from './detached-log.ts';
export type { Checker, Dialect, Report, Rule, Violation } from './dialect.ts';
export type { AgentEvent, AgentEventType, EventOf, Timing } from './event.ts';
export { decisionsOf } from './decisions-of.ts';
export type { Answered, AnswerOptions, DurableAgent, DurableRun, NewMessage, RunRequest } from './durable-agent.ts';
export type { Fault } from './fault.ts';
export { followRun } from './follow-run.ts';
export type { Followed, FollowOptions } from './follow-run.ts';
export { growMessage } from './grow-message.ts';
export type { Hint, Hints } from './hints.ts';
export { iterate } from './iterate.ts';
export { createInMemoryStore } from './in-memory-store/in-memory-store.ts';
export type { InMemoryStoreOptions } from './in-memory-store/in-memory-store.ts';
export { applyPatch, equalJson } from './json-patch.ts';
export type { Op, Patched } from './json-patch.ts';
export type { Json, JsonObject, Meta } from './json.ts';
export type { Loss, OnLoss } from './loss.ts';
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
} from './memory-store.ts';
export { mergeMeta, mergeMetadata } from './merge-meta.ts';
export type { MessageSnapshot } from './message-snapshot.ts';
export { MessageFormatError } from './message-format-error.ts';
export type { MessageFormatErrorCode } from './message-format-error.ts';
export { decodeMessage, encodeMessage } from './message-json.ts';
export type { DecodeMessageOptions } from './message-json.ts';
export { foldEvents, MessageList } from './message-list.ts';
export type { MessageListOptions } from './message-list.ts';
export { messageFormat, messageUpgrades } from './message-upgrades.ts';
export type { MessageUpgrades } from './message-upgrades.ts';
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
} from './message.ts';
export { outcomeOf, outcomeOfCut } from './outcome-of.ts';
export type { Outcome, Waiting } from './outcome.ts';
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
} from './part-body.ts';
export { createPartIds } from './part-ids.ts';
export type { PartIds } from './part-ids.ts';
export { pause } from './pause.ts';
export { playTape } from './play-tape.ts';
export type { PlayTapeOptions } from './play-tape.ts';
export { pullStream } from './pull-stream.ts';
export type { PullStreamOptions } from './pull-stream.ts';
export { parseTape, readTape } from './read-tape.ts';
export type { ReadTapeOptions, TapeLine } from './read-tape.ts';
export { recordTape, timeItems } from './record-tape.ts';
export type { RecordTapeOptions } from './record-tape.ts';
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
} from './registry.ts';
export { recoverRun } from './recover-run.ts';
export { rekey } from './rekey.ts';
export { repairHistory } from './repair-history.ts';
export type { Repair, RepairedHistory, RepairOptions } from './repair-history.ts';
export { createRunFlusher } from './run-flusher.ts';
export type { FlushReport, LocalReader, LocalRuns, RunFlusher, RunFlusherOptions } from './run-flusher.ts';
export type { RunInput, ToolDescription } from './run-input.ts';
export type { Appended, LogBatch, LogPage, LogPosition, RunKey, RunLog, RunPosition } from './run-log.ts';
export { RunLostError } from './run-lost-error.ts';
export type { RunLostReason } from './run-lost-error.ts';
export { RunRefusedError } from './run-refused-error.ts';
export type { RunRefusal } from './run-refused-error.ts';
export { createRunWatcher } from './run-watcher.ts';
export type { PositionListener, RunWatcher, RunWatcherOptions } from './run-watcher.ts';
export type { CommittedBatch, RunWriter, RunWriterOptions, UnwrittenEnd } from './run-writer.ts';
export { localScope, toScope } from './scope.ts';
export type { Scope } from './scope.ts';
export { seal } from './seal.ts';
export type { SealOptions } from './seal.ts';
export { sealStream } from './seal-stream.ts';
export type { SealStreamOptions } from './seal-stream.ts';
export { copySealedMark } from './sealed-stream.ts';
export type { SealedStream } from './sealed-stream.ts';
export type { SourceInput } from './source-input.ts';
export { sourceStream } from './source-stream.ts';
export type { SourceStreamOptions } from './source-stream.ts';
export { splitLines } from './split-lines.ts';
export type { Line } from './split-lines.ts';
export { endByAbort } from './stop-reason.ts';
export type { StopReason } from './stop-reason.ts';
export { StoreError } from './store-error.ts';
export type { StoreErrorCode } from './store-error.ts';
export { checkStoreId } from './store-id.ts';
export { createSweeper } from './sweeper.ts';
export type { Sweeper, SweeperOptions, Swept } from './sweeper.ts';
export { CANONICAL, TAPE_VERSION } from './tape.ts';
export type { Tape, TapeHeader, TapeItem } from './tape.ts';
export { TapeError } from './tape-error.ts';
export type { TapeErrorType } from './tape-error.ts';
export { tapeSource } from './tape-source.ts';
export type { TapeSourceOptions } from './tape-source.ts';
export { toFault } from './to-fault.ts';
export { toJson } from './to-json.ts';
export { toReadableStream } from './to-readable-stream.ts';
export { isSettled } from './tool-part.ts';
export type { ToolAnswer, ToolResult } from './tool-result.ts';
export { unfold, unfoldContent } from './unfold.ts';
export type { FinishReason, Usage } from './usage.ts';
export { createUuidV7, generateId } from './uuid-v7.ts';
export type { GenerateId, UuidV7Options } from './uuid-v7.ts';
export { eventTypes, isEventType, readEvent, validateEvent } from './validate-event.ts';
export type { EventProblem } from './validate-event.ts';
export { formatTape, writeTape } from './write-tape.ts';
export { withDetachedLog } from './with-detached-log.ts';
export type { DetachedLogOptions } from './with-detached-log.ts';
