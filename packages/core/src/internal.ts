/** Building blocks of the other Intertie packages, without a stability promise: `@intertie/core/internal`. */

// JSON
export { isFields, asFields, asText, asNonEmptyText, asNumber, asBoolean, defined, omit } from './json/fields.ts';
export type { Fields } from './json/fields.ts';
export { capJson } from './json/cap-json.ts';
export type { TruncatedJson } from './json/cap-json.ts';
export { applyPatch, equalJson } from './json/json-patch.ts';
export type { Op, Patched } from './json/json-patch.ts';
export { decodeBase64, encodeBase64 } from './json/base64.ts';
export { createUuidV7 } from './json/uuid-v7.ts';
export type { GenerateId, UuidV7Options } from './json/uuid-v7.ts';
export type { MessageFormatErrorCode } from './json/message-format-error.ts';

// Optional peer dependencies
export { importOptional, MissingPackageError } from './import-optional.ts';
export type { OptionalPackage } from './import-optional.ts';

// Streams
export { pullStream } from './stream/pull-stream.ts';
export type { PullStreamOptions } from './stream/pull-stream.ts';
export { pause } from './stream/pause.ts';
export { restartPausesMs, retryRequest } from './stream/retry-request.ts';

// Events
export type { AgentEventType, Timing } from './event/event.ts';
export { eventTypes, isEventType, readEvent } from './event/validate-event.ts';
export type { EventProblem } from './event/validate-event.ts';
export type {
  AgentBody,
  CallBody,
  DataBody,
  Executor,
  FileBody,
  InterjectionBody,
  Attribution,
  SourceBody,
} from './event/part-body.ts';
export { isLostRun } from './event/outcome.ts';
export { sumUsage } from './event/sum-usage.ts';
export type { PartIds } from './event/part-ids.ts';
export { mergeMeta, mergeMetadata } from './event/merge-meta.ts';
export type { ToolDescription } from './event/run-input.ts';
export type { OpenItem, Topology } from './event/agent-source.ts';

// Codecs
export { prependEvents } from './codec/codec.ts';
export { nameBrokenConnection } from './codec/broken-connection.ts';
export { coalesce } from './codec/coalesce.ts';
export type { CoalesceOptions } from './codec/coalesce.ts';
export { hasSourceOutput, resumeReplay } from './codec/resume-replay.ts';
export type { ResumeReplayOptions } from './codec/resume-replay.ts';
export { sealStream } from './codec/seal-stream.ts';
export type { SealStreamOptions } from './codec/seal-stream.ts';
export { copySealedMark } from './codec/sealed-stream.ts';
export type { SealedStream } from './codec/sealed-stream.ts';
export type { SourceInput } from './codec/source-input.ts';
export { isHandOver, toAbortEnd } from './codec/stop-reason.ts';
export type { StopReason } from './codec/stop-reason.ts';
export { toOutcome, toInterruptedOutcome } from './codec/to-outcome.ts';
export { cutOffCode, isCutOff, isSettled } from './codec/tool-part.ts';
export type {
  Checker,
  ConnectedSource,
  EncodeOptions,
  Probe,
  PromptRequest,
  ProtocolClient,
  ProtocolConnection,
  ProtocolFraming,
  ProtocolMessages,
  ProtocolReplay,
  ProtocolVariants,
  ReplayTapes,
  Report,
  RunIds,
  Violation,
} from './protocol/protocol.ts';
export { createItemClassifier, itemFamilies } from './protocol/item-families.ts';
export type { ItemClassifier, ItemFamily, ProtocolItems } from './protocol/item-families.ts';
export { splitDetails } from './protocol/agent-kind.ts';
export { createProbeRun, probeAddress } from './protocol/probe-address.ts';
export { createDecodingChecker, decodingRules } from './protocol/decoding-checker.ts';
export { getItemType, readItemTime, toRunIds } from './protocol/read-item.ts';

// Messages
export type {
  AgentEntry,
  DataPart,
  FilePart,
  InterjectionPart,
  MessageContentV2,
  QuestionPart,
  ReasoningPart,
  RunEntry,
  SourcePart,
  StepEntry,
  TextPart,
  ToolPart,
  ToolState,
} from './event/message.ts';
export { messageFormat, messageUpgrades } from './event/message-upgrades.ts';
export type { MessageUpgrades } from './event/message-upgrades.ts';
export type { MessageSnapshot } from './message/message-snapshot.ts';
export type { DecodeMessageOptions } from './message/message-json.ts';
export { unfoldContent } from './message/unfold.ts';
export { repairHistory } from './message/repair-history.ts';
export type { Repair, RepairedHistory, RepairOptions } from './message/repair-history.ts';

// Tapes
export { CANONICAL, TAPE_VERSION } from './tape/tape.ts';
export type { TapeItem } from './tape/tape.ts';
export type { TapeErrorType } from './tape/tape-error.ts';
export type { ReadTapeOptions, TapeLine } from './tape/read-tape.ts';
export { timeItems } from './tape/record-tape.ts';
export type { TapeSourceOptions } from './tape/tape-source.ts';
export { assignNewIds } from './tape/assign-new-ids.ts';
export { splitLines } from './tape/split-lines.ts';
export type { Line } from './tape/split-lines.ts';

// Durable runs and stores
export type { Answered, AnswerOptions } from './run/durable-agent.ts';
export { createRunFlusher } from './run/run-flusher.ts';
export type { FlushReport, LocalReader, LocalRuns, RunFlusher, RunFlusherOptions } from './run/run-flusher.ts';
export type { CommittedBatch, RunWriter, RunWriterOptions, UnwrittenEnd } from './run/run-writer.ts';
export { createRunWatcher } from './run/run-watcher.ts';
export type { RunWatcher, RunWatcherOptions } from './run/run-watcher.ts';
export { followRun } from './run/follow-run.ts';
export type { Followed, FollowOptions } from './run/follow-run.ts';
export { OpenQuestions } from './run/open-questions.ts';
export { override } from './run/override.ts';
export { readLog, recoverRun } from './run/recover-run.ts';
export { createClosingEvents, createResumePoint } from './run/resume-point.ts';
export { resolveEventFileUrls, resolveFileUrls } from './run/resolve-file-urls.ts';
export type { FileUrl } from './run/resolve-file-urls.ts';
export type { AnswersByRun } from './run/serve-durable-run.ts';
export { createSweeper } from './run/sweeper.ts';
export type { Sweeper, SweeperOptions, SweepResult } from './run/sweeper.ts';
export type { FileBytesPart } from './store/store.ts';
