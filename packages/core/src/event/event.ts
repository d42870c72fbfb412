import type { Fault } from './fault.ts';
import type { Json, JsonObject, Meta } from '../json/json.ts';
import type { Op } from '../json/json-patch.ts';
import type { MessageContent } from './message.ts';
import type { Outcome } from './outcome.ts';
import type {
  Answer,
  AgentBody,
  CallBody,
  DataBody,
  FileBody,
  InterjectionBody,
  Question,
  Attribution,
  SourceBody,
} from './part-body.ts';
import type { ToolResult } from './tool-result.ts';
import type { FinishReason, Usage } from './usage.ts';

/**
 * `resumes` is the paused run whose message this run continues.
 * `parentRunId` is lineage: the run that this one branched from or was spawned by.
 */
export type RunStart = {
  type: 'run-start';
  runId: string;
  threadId: string;
  messageId: string;
  parentMessageId?: string;
  resumes?: string;
  parentRunId?: string;
};
/** Complete message so far: the baseline of a continuation, a correction, or a compacted log. */
export type MessageSnapshotEvent = { type: 'message-snapshot'; content: MessageContent };
/** Metadata of the message: deep merge, arrays are replaced. */
export type MessageMetadata = { type: 'metadata'; metadata: JsonObject; id?: never };
/** Metadata of a part or call. Also allowed after its end. */
export type PartMetadata = { type: 'metadata'; id: string; providerMetadata: Meta };
/** `resume` is the runtime's own token (a MAIL task, a flow run): opaque, stored with the message. */
export type RunEnd = {
  type: 'run-end';
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  result?: Json;
  resume?: Json;
  providerMetadata?: Meta;
} & Outcome;

/** `agentId` identifies one invocation of an agent. */
export type AgentStart = { type: 'agent-start'; agentId: string } & AgentBody;
export type AgentEnd = { type: 'agent-end'; agentId: string; result?: Json; usage?: Usage[] } & Outcome;
/** Start of one model request. */
export type StepStart = { type: 'step-start'; stepId: string; agentId?: string; name?: string; warnings?: Json[] };
/** `discarded`: the request was retried, and the parts of this step are removed. */
export type StepEnd = {
  type: 'step-end';
  stepId: string;
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  warnings?: Json[];
  response?: { id?: string; modelId?: string; timestamp?: string };
  discarded?: true;
  providerMetadata?: Meta;
};

export type TextStart = { type: 'text-start'; id: string } & Attribution;
export type TextDelta = { type: 'text-delta'; id: string; delta: string; providerMetadata?: Meta };
export type TextEnd = { type: 'text-end'; id: string; citations?: Json[]; providerMetadata?: Meta };
export type ReasoningStart = { type: 'reasoning-start'; id: string } & Attribution;
export type ReasoningDelta = { type: 'reasoning-delta'; id: string; delta: string; providerMetadata?: Meta };
export type ReasoningEnd = { type: 'reasoning-end'; id: string; providerMetadata?: Meta };

export type ToolInputStart = { type: 'tool-input-start' } & CallBody & Attribution;
export type ToolInputDelta = { type: 'tool-input-delta'; toolCallId: string; delta: string; providerMetadata?: Meta };
/** End of the streamed input text, complete or truncated. Only `tool-call` makes the call complete. */
export type ToolInputEnd = { type: 'tool-input-end'; toolCallId: string; providerMetadata?: Meta };
/** Complete call that may be executed. An `invalid` call is never executed; its error result follows. */
export type ToolCall = { type: 'tool-call'; input: Json; invalid?: Fault } & CallBody & Attribution;
export type ToolResultEvent = { type: 'tool-result'; toolCallId: string; providerMetadata?: Meta } & ToolResult;

export type QuestionEvent = { type: 'question'; agentId?: string } & Question;
export type AnswerEvent = { type: 'answer' } & Answer;
export type Interjection = { type: 'interjection'; id: string } & Attribution & InterjectionBody;

export type FileEvent = { type: 'file'; id: string } & Attribution & FileBody;
export type SourceEvent = { type: 'source'; id: string } & Attribution & SourceBody;
/** A repeated id replaces the data. `transient` data is shown but not stored. */
export type DataEvent = { type: 'data'; id: string; transient?: true } & Attribution & DataBody;
export type DataDelta = { type: 'data-delta'; id: string; patch: Op[] };

export type StateSnapshot = { type: 'state-snapshot'; state: Json };
export type StateDelta = { type: 'state-delta'; patch: Op[] };
/** Problem that does not end the run. */
export type Notice = {
  type: 'notice';
  level: 'info' | 'warning' | 'error';
  message: string;
  code?: string;
  agentId?: string;
  stepId?: string;
  toolCallId?: string;
  data?: Json;
};
/**
 * Progress of the source, such as the id of a remote task: `AgentSource.resume` receives the last one if the process dies. It stays in
 * the log of the run: readers, encoders and exports skip it, and it is not part of the message.
 */
export type Checkpoint = { type: 'checkpoint'; token: Json };
/** Frame of the source that the decoder did not understand, or that the caller requested. */
export type Raw = { type: 'raw'; dialect: string; value: Json };

/**
 * `at` is in milliseconds, from the protocol or the injected clock, and absent on deltas.
 * `origin` is the index of the source frame that caused the event, if frames are recorded.
 */
export type Timing = { at?: number; origin?: number };

/** One event of the canonical stream. */
export type AgentEvent = Timing &
  (
    | RunStart
    | MessageSnapshotEvent
    | MessageMetadata
    | PartMetadata
    | RunEnd
    | AgentStart
    | AgentEnd
    | StepStart
    | StepEnd
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | ToolCall
    | ToolResultEvent
    | QuestionEvent
    | AnswerEvent
    | Interjection
    | FileEvent
    | SourceEvent
    | DataEvent
    | DataDelta
    | StateSnapshot
    | StateDelta
    | Notice
    | Checkpoint
    | Raw
  );

export type AgentEventType = AgentEvent['type'];
/** The event of one type, for example `EventOf<'text-delta'>`. */
export type EventOf<T extends AgentEventType> = Extract<AgentEvent, { type: T }>;
