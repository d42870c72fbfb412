import { ToolError } from '../tool-error.ts';

/** Encoding of a stream in bytes: server-sent events, JSON lines, a tape (lines with times), or one JSON document. */
export type Framing = 'sse' | 'ndjson' | 'tape' | 'json';
const framings: readonly Framing[] = ['sse', 'ndjson', 'tape', 'json'];

/**
 * One unit of the framing. `text` is an unparsed item and `value` a parsed one; `done` is the `[DONE]` of a UI message stream,
 * and `problem` describes input that is not an item.
 */
export type Frame = { line: number } & (
  | { type: 'text'; text: string; event?: string; cut?: true }
  | { type: 'value'; value: unknown; t?: number }
  | { type: 'done' }
  | { type: 'problem'; problem: FrameProblem; message: string; text: string }
);

export type FrameProblem = 'json' | 'cut' | 'encoding' | 'size';

/** Parses the name of an input format. Undefined to detect it. */
export function readInputFraming(name: string | undefined): Framing | undefined {
  if (name === undefined || name === 'auto') return undefined;
  const found = framings.find((framing) => framing === name || (name === 'jsonl' && framing === 'ndjson'));
  if (found) return found;
  throw new ToolError('usage', `“${name}” is not an input format.`, `Use one of ${framings.join(', ')}.`);
}
