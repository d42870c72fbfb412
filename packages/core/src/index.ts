/** Events, messages, codecs, tapes and durable runs for applications: `@intertie/core`. */

// Values
export type { Json, JsonObject, Meta } from './json/json.ts';
export type { Loss, OnLoss } from './json/loss.ts';
export { MessageFormatError } from './json/message-format-error.ts';
export { generateId } from './json/uuid-v7.ts';
export { toJson } from './json/to-json.ts';

// Events
export type { AgentEvent, EventOf } from './event/event.ts';
export { validateEvent } from './event/validate-event.ts';
export type { Outcome } from './event/outcome.ts';
export type { FinishReason, Usage } from './event/usage.ts';
export type { Fault } from './event/fault.ts';
export { toFault } from './event/to-fault.ts';
export type { Answer, Question } from './event/part-body.ts';
export type { ToolResult } from './event/tool-result.ts';
export { createPartIds } from './event/part-ids.ts';

// Sources of events
export type { AgentSource, ResumePoint, RunControl } from './event/agent-source.ts';
export type { RunInput } from './event/run-input.ts';

// Codecs, and the streams that run them
export { compose, transcode } from './codec/codec.ts';
export type { Codec, Emit, Encoder, End } from './codec/codec.ts';
export { toTransformStream } from './codec/codec-stream.ts';
export { seal } from './codec/seal.ts';
export type { SealOptions } from './codec/seal.ts';
export { sourceStream } from './codec/source-stream.ts';
export type { SourceStreamOptions } from './codec/source-stream.ts';
export type { Protocol, Rule } from './protocol/protocol.ts';
export type {
  EndpointAgent,
  EndpointHandler,
  EndpointOptions,
  EndpointRequest,
  EndpointRoute,
  ProtocolEndpoints,
} from './protocol/endpoints.ts';
export type {
  ClientRules,
  StopOnDisconnect,
  AgentDefinition,
  AgentDefinitions,
  AgentDetails,
  AgentEnvironment,
  AgentKind,
  AgentTemplate,
  DemoAgents,
  DemoHost,
  Environment,
  OnFrame,
} from './protocol/agent-kind.ts';
export type { ModelCall, ModelCallEnd, OnModelCall } from './protocol/model-call.ts';
export { iterate } from './stream/iterate.ts';
export { toReadableStream } from './stream/to-readable-stream.ts';

// Messages
export type {
  CanonicalMessage,
  MessageContent,
  MessagePart,
  MessageRole,
  MessageStatus,
  Thread,
} from './event/message.ts';
export { foldEvents, MessageList } from './message/message-list.ts';
export type { MessageListOptions } from './message/message-list.ts';
export { unfold } from './message/unfold.ts';
export { decodeMessage, encodeMessage } from './message/message-json.ts';
export { applyAnswer } from './message/apply-answer.ts';

// Tapes
export type { Tape, TapeHeader } from './tape/tape.ts';
export { TapeError } from './tape/tape-error.ts';
export { parseTape, readTape } from './tape/read-tape.ts';
export { formatTape, writeTape } from './tape/write-tape.ts';
export { recordTape } from './tape/record-tape.ts';
export type { RecordTapeOptions } from './tape/record-tape.ts';
export { playTape } from './tape/play-tape.ts';
export type { PlayTapeOptions } from './tape/play-tape.ts';
export { tapeSource } from './tape/tape-source.ts';

// Stores
export type { MemoryStore, Store } from './store/store.ts';
export type { RunRecord } from './store/registry.ts';
export { readBlobUrl, toBlobUrl } from './store/blob-url.ts';
export { StoreError } from './store/store-error.ts';
export { RunLostError } from './store/run-lost-error.ts';
export { RunRefusedError } from './store/run-refused-error.ts';
export { DatabaseUnavailableError } from './store/database-unavailable-error.ts';
export { createInMemoryStore } from './store/in-memory/in-memory-store.ts';
export type { InMemoryStoreOptions } from './store/in-memory/in-memory-store.ts';

// Durable runs
export { isDurableAgent } from './run/durable-agent.ts';
export type { DurableAgent, DurableRun, RunRequest } from './run/durable-agent.ts';
export { serveDurableRun } from './run/serve-durable-run.ts';
export type { OpenRun, RunCommand, ServedRun, ServeRunOptions } from './run/serve-durable-run.ts';
export { withDetachedLog } from './run/with-detached-log.ts';
