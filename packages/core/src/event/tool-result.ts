import type { Fault } from './fault.ts';
import type { Json } from '../json/json.ts';

/**
 * Result of a call. `content: true` marks `output` as a list of text and file parts. A `preliminary` result is followed by another.
 * `denied` is neither output nor error: the tool was never executed.
 */
export type ToolResult =
  | { status: 'ok'; output: Json; content?: true; preliminary?: true }
  | { status: 'error'; error: Fault }
  | { status: 'denied'; reason?: string };

/** Result of a call from outside the run, for example of a tool that the page executes. */
export type ToolAnswer = { toolCallId: string } & ToolResult;
