import type { Json } from '../json/json.ts';
import type { CanonicalMessage, MessageContent } from './message.ts';
import type { Answer } from './part-body.ts';
import type { ToolAnswer } from './tool-result.ts';

/** Tool that a client offers to the runtime. */
export type ToolDescription = { name: string; description?: string; inputSchema?: Json };

/** Input of a source for one run. All ids are canonical; ids of a protocol are metadata. */
export interface RunInput {
  runId: string;
  threadId: string;
  messageId: string;
  parentMessageId?: string;
  resumes?: string;
  parentRunId?: string;
  startedAt: number;
  /** Principal that the run belongs to, as `auth` or `forScope` determined it. Only durable runs have one. */
  principal?: string;
  /** Number of the process that executes the run. Above 1, the run was taken over, and new part ids contain it. Default: 1. */
  epoch?: number;
  /** Messages of the branch, ending with the new user message if there is one. */
  history: CanonicalMessage[];
  /** Message that a continuation extends. */
  message?: MessageContent;
  /** Answers that `message` does not contain yet. Only from handlers without a store. */
  answers: Array<Answer | ToolAnswer>;
  tools: ToolDescription[];
  context: Array<{ description: string; value: string }>;
  state?: Json;
  /** Value from the client for the runtime, passed verbatim. No handler reads it and no model sees it. */
  forwardedProps?: Json;
  /** `run-end.resume` of the last run. */
  sourceState?: Json;
}
