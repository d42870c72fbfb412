import type { Rule } from '@intertie/core';
import { ToolError } from '../tool-error.ts';

/** Encoding of a stream in bytes: server-sent events, JSON lines, a tape (lines with times), or one JSON document. */
export type Framing = 'sse' | 'ndjson' | 'tape' | 'json';

/** Framings with their names in messages. */
export const framingNames: { readonly [framing in Framing]: string } = {
  sse: 'server-sent events',
  ndjson: 'JSON lines',
  tape: 'a tape',
  json: 'a JSON document',
};
const framings = Object.keys(framingNames) as Framing[];

/**
 * One unit of the framing. `text` is an unparsed item and `value` a parsed one; `done` is the `[DONE]` at the end of a run,
 * and `problem` describes input that is not an item.
 */
export type Frame = { line: number } & (
  | { type: 'text'; text: string; event?: string; cut?: true }
  | { type: 'value'; value: unknown; t?: number }
  | { type: 'done' }
  | { type: 'problem'; problem: FrameProblem; message: string; text: string }
);

export type FrameProblem = 'json' | 'cut' | 'encoding' | 'size';

/** Rules of the framing, which apply to every protocol. */
export const frameRules: { readonly [problem in FrameProblem]: Rule } = {
  json: {
    id: 'frame-json',
    sentence: 'Every event or line contains one JSON value.',
    fix: 'Write JSON on a single line. Use `JSON.stringify` for texts with line breaks, not a template.',
  },
  cut: {
    id: 'frame-cut',
    sentence: 'The last event is complete and ends with a blank line.',
    fix: 'Write two line breaks after every event, including the last one, or clients drop it. Check for a lost connection.',
  },
  encoding: {
    id: 'frame-utf8',
    sentence: 'The bytes are UTF-8.',
    fix: 'Encode whole texts, not chunks that are split inside a character.',
  },
  size: {
    id: 'frame-size',
    sentence: 'An event does not exceed the maximum size of a reader.',
    fix: 'Send large files by URL.',
  },
};

/** Parses the name of an input format. Undefined to detect it. */
export function readInputFraming(name: string | undefined): Framing | undefined {
  if (name === undefined || name === 'auto') return undefined;
  const found = framings.find((framing) => framing === name || (name === 'jsonl' && framing === 'ndjson'));
  if (found) return found;
  throw new ToolError('usage', `“${name}” is not an input format.`, `Use one of ${framings.join(', ')}.`);
}
