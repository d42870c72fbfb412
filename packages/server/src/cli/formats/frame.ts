import { ToolError } from '../tool-error.ts';

/** How items lie in the bytes: server-sent events, a line each, a tape (lines with times), or one JSON document. */
export type Framing = 'sse' | 'ndjson' | 'tape' | 'json';
const framings: readonly Framing[] = ['sse', 'ndjson', 'tape', 'json'];

/**
 * What the bytes hold at one place. `text` is an item that has yet to be parsed, `value` one that has been; `done` is the
 * `[DONE]` of a UI message stream, and `problem` what is no item at all.
 */
export type Frame = { line: number } & (
  | { type: 'text'; text: string; event?: string; cut?: true }
  | { type: 'value'; value: unknown; t?: number }
  | { type: 'done' }
  | { type: 'problem'; problem: FrameProblem; message: string; text: string }
);

export type FrameProblem = 'json' | 'cut' | 'encoding' | 'size';

/** A framing by its name; undefined to find out. */
export function readInputFraming(name: string | undefined): Framing | undefined {
  if (name === undefined || name === 'auto') return undefined;
  const found = framings.find((framing) => framing === name || (name === 'jsonl' && framing === 'ndjson'));
  if (found) return found;
  throw new ToolError('usage', `“${name}” is no input format.`, `The formats are ${framings.join(', ')}.`);
}
