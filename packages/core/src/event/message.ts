import type { Fault } from './fault.ts';
import type { Json, JsonObject, Meta } from '../json/json.ts';
import type { Outcome } from './outcome.ts';
import type {
  AgentBody,
  Answer,
  DataBody,
  Executor,
  FileBody,
  InterjectionBody,
  Question,
  SourceBody,
} from './part-body.ts';
import type { FinishReason, Usage } from './usage.ts';

export type MessageRole = 'system' | 'user' | 'assistant' | 'tool';
/** Part of the stored shape. The fold writes `text`; `tool` and `event` occur in imported messages. */
export type MessageType = 'text' | 'tool' | 'event';
/** Outcome of the last run, or `streaming` while a run writes the message. */
export type MessageStatus = 'streaming' | 'complete' | 'paused' | 'aborted' | 'error';

/** Question with its answer, if there is one. */
export type AskedQuestion = Question & { answer?: Answer };

/** Optional fields of every stored part. */
export type PartBase = {
  id?: string;
  agentId?: string;
  stepId?: string;
  to?: string[];
  internal?: true;
  providerMetadata?: Meta;
};

export type TextPart = PartBase & { type: 'text'; text: string; citations?: Json[] };
export type ReasoningPart = PartBase & { type: 'reasoning'; reasoning: string; details?: Json };
/** State of a call. It only moves to the right; the last three are final. */
export type ToolState = 'partial-call' | 'call' | 'result' | 'error' | 'denied';
/** A call and its result in one part. They are split when model messages are built. */
export type ToolPart = PartBase & {
  type: 'tool-invocation';
  toolCallId: string;
  toolName: string;
  state: ToolState;
  args?: Json;
  /** Input received so far, while it is incomplete. */
  argsText?: string;
  result?: Json;
  preliminary?: true;
  invalid?: true;
  /** Failure of the call. For a denied call the message is the reason. */
  error?: Fault;
  approval?: AskedQuestion;
  resultContent?: true;
  resultMetadata?: Meta;
  executor?: Executor;
  dynamic?: boolean;
  title?: string;
  inputEncoding?: 'json' | 'text';
  toolMetadata?: Json;
};
/** Question that does not belong to a tool call. */
export type QuestionPart = PartBase & { type: 'question' } & AskedQuestion;
export type FilePart = PartBase & { type: 'file' } & FileBody;
export type SourcePart = PartBase & { type: 'source' } & Partial<SourceBody>;
export type DataPart = PartBase & { type: 'data' } & Partial<Pick<DataBody, 'name'>> & Pick<DataBody, 'data'>;
export type InterjectionPart = PartBase & { type: 'interjection' } & InterjectionBody;

export type MessagePart =
  | TextPart
  | ReasoningPart
  | ToolPart
  | QuestionPart
  | FilePart
  | SourcePart
  | DataPart
  | InterjectionPart;

/** Invocation of an agent that worked on the message. */
export type AgentEntry = AgentBody & {
  outcome?: Outcome['outcome'];
  error?: Fault;
  result?: Json;
  usage?: Usage[];
};
/** Model request that contributed to the message. */
export type StepEntry = {
  agentId?: string;
  name?: string;
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  response?: { id?: string; modelId?: string; timestamp?: string };
  providerMetadata?: Meta;
};
/** Run that wrote to the message. */
export type RunEntry = {
  runId: string;
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  result?: Json;
  /** Number of parts of the message when the run paused. The run that continues it adds its parts after them. */
  parts?: number;
} & Outcome;

/** Content of a message, format 2. `content` is the flat text of some imported messages. */
export type MessageContent = {
  format: 2;
  parts: MessagePart[];
  content?: string;
  metadata?: JsonObject;
  providerMetadata?: Meta;
  agents?: { [agentId: string]: AgentEntry };
  steps?: { [stepId: string]: StepEntry };
  runs?: RunEntry[];
};
/** Alias: other projects know this format under this name. */
export type MessageContentV2 = MessageContent;

/** Stored message of a thread. */
export type CanonicalMessage = {
  id: string;
  threadId: string;
  role: MessageRole;
  type: MessageType;
  content: MessageContent;
  createdAt: Date;
  resourceId?: string;
  /** Id from the client if it was already in use: an AI SDK client keeps the id of a message that it edits. */
  clientId?: string;
  /** Previous message on the branch; absent on the first. */
  parentId?: string;
  /** Run that writes the message, or wrote it last. */
  runId?: string;
  status?: MessageStatus;
  /** Shared state of the thread after this message. It branches with the message. */
  state?: Json;
  /** The runtime's own token (`run-end.resume`). It branches with the message. */
  sourceState?: Json;
};

/** Stored thread: a tree of messages. */
export type Thread = {
  id: string;
  resourceId?: string;
  title?: string;
  metadata?: JsonObject;
  /** Last message of the active branch. */
  headId?: string;
  /** Whether lists leave the thread out. */
  hidden?: true;
  /** Increases with every change of the thread or its messages. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
};
