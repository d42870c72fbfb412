import type { Json } from '../json/json.ts';
import type { CanonicalMessage, MessageContent } from './message.ts';
import type { Answer } from './part-body.ts';
import type { ToolAnswer } from './tool-result.ts';

export type ToolDescription = { name: string; description?: string; inputSchema?: Json };

/** All that a source needs for one run. The ids are ours; what a wire calls itself is metadata. */
export interface RunInput {
  runId: string;
  threadId: string;
  messageId: string;
  parentMessageId?: string;
  resumes?: string;
  parentRunId?: string;
  startedAt: number;
  /** The branch, ending with the new user message if there is one. */
  history: CanonicalMessage[];
  /** What a continuation goes on with. */
  message?: MessageContent;
  /** Only those that the baseline does not hold yet (doors without a store). */
  answers: Array<Answer | ToolAnswer>;
  tools: ToolDescription[];
  context: Array<{ description: string; value: string }>;
  state?: Json;
  /** What the client wants the runtime to have, verbatim. No door reads it and no model is told of it: it may be anything. */
  forwardedProps?: Json;
  /** What the last run's `run-end.resume` said. */
  sourceState?: Json;
}
