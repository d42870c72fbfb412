import type { Fault } from './fault.ts';
import type { Json } from '../json/json.ts';

/**
 * What came of a call. `content: true` says that `output` is a list of text and file parts;
 * a `preliminary` result is followed by another. `denied` is neither output nor error: the tool was never run.
 */
export type ToolResult =
  | { status: 'ok'; output: Json; content?: true; preliminary?: true }
  | { status: 'error'; error: Fault }
  | { status: 'denied'; reason?: string };

/** A result for a call, given from outside the run (a client's tool, answered by the page). */
export type ToolAnswer = { toolCallId: string } & ToolResult;
