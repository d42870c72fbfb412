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
/** Part of the stored shape. The fold writes `text`; `tool` and `event` are read on import. */
export type MessageType = 'text' | 'tool' | 'event';
/** The last run's outcome; `streaming` while one writes. */
export type MessageStatus = 'streaming' | 'complete' | 'paused' | 'aborted' | 'error';

/** A question and, once there is one, its answer. */
export type AskedQuestion = Question & { answer?: Answer };

/** What every stored part may carry beside its body. */
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
/** Only ever moves right. */
export type ToolState = 'partial-call' | 'call' | 'result' | 'error' | 'denied';
/** A call and its result are one part; model messages are split when they are made. */
export type ToolPart = PartBase & {
  type: 'tool-invocation';
  toolCallId: string;
  toolName: string;
  state: ToolState;
  args?: Json;
  /** The input so far, while it is partial. */
  argsText?: string;
  result?: Json;
  preliminary?: true;
  invalid?: true;
  /** The failure, or of a denied call its reason as the message. */
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
/** A question about no tool call. */
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

/** Who worked on the message, by invocation. */
export type AgentEntry = AgentBody & {
  outcome?: Outcome['outcome'];
  error?: Fault;
  result?: Json;
  usage?: Usage[];
};
/** The model turns behind the message. */
export type StepEntry = {
  agentId?: string;
  name?: string;
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  response?: { id?: string; modelId?: string; timestamp?: string };
  providerMetadata?: Meta;
};
/** One per run that wrote the message. */
export type RunEntry = {
  runId: string;
  finishReason?: FinishReason;
  rawFinishReason?: string;
  usage?: Usage[];
  result?: Json;
} & Outcome;

/** The content of a message, format 2. `content` is the flat text that imported messages may bring. */
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
/** The name that the field knows for it. */
export type MessageContentV2 = MessageContent;

export type CanonicalMessage = {
  id: string;
  threadId: string;
  role: MessageRole;
  type: MessageType;
  content: MessageContent;
  createdAt: Date;
  resourceId?: string;
  /** The id that its sender gave it, where that was taken: an AI SDK client keeps the id of a message that it edits. */
  clientId?: string;
  /** The message before it on its branch; absent on the first. */
  parentId?: string;
  /** The run that writes it, or wrote it last. */
  runId?: string;
  status?: MessageStatus;
  /** The thread's shared state after this message; it branches with it. */
  state?: Json;
  /** The runtime's own token (`run-end.resume`); it branches with the message too. */
  sourceState?: Json;
};

export type Thread = {
  id: string;
  resourceId?: string;
  title?: string;
  metadata?: JsonObject;
  /** The default leaf: the last message of the active branch. */
  headId?: string;
  /** Grows with every change of the thread or of what is in it. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
};
