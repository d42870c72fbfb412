import { getItems } from './read-framing.ts';
import { ToolError } from '../tool-error.ts';
import type { Framing } from './frame.ts';

/** Maximum length of the first line of a stream. A longer one is a JSON document. */
const maxHead = 1024 * 1024;

/**
 * Detects the framing from the beginning of an input. Undefined if more input is needed. Throws a `ToolError` that describes
 * an input of another kind.
 */
export function detectFraming(head: string, isWhole: boolean): Framing | undefined {
  const text = head.replace(/^\ufeff/, '').trimStart();
  const end = text.indexOf('\n');
  if (end === -1 && !isWhole) return text.length > maxHead ? 'json' : undefined;
  const line = (end === -1 ? text : text.slice(0, end)).trim();
  if (line === '')
    throw new ToolError(
      'unreadable',
      'The input is empty.',
      'Check that it is the right file and that it is complete.',
    );
  if (/^(?:data|event|id|retry) ?:|^:/.test(line)) return 'sse';
  if (line.startsWith('[')) return 'json';
  if (line.startsWith('{')) return detectObjectFraming(line);
  throw createForeignInputError(line);
}

function detectObjectFraming(line: string): Framing {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Either the first line of an indented JSON document, or an invalid line of a stream.
    return /^\{\s*(?:"[^"]*"\s*:\s*[[{]?\s*)?$/.test(line) || /,\s*$/.test(line) ? 'json' : 'ndjson';
  }
  const { tape, dialect } = value as { tape?: unknown; dialect?: unknown };
  if (typeof tape === 'number' && typeof dialect === 'string') return 'tape';
  return getItems(value)[0] === value ? 'ndjson' : 'json';
}

function createForeignInputError(line: string): ToolError {
  const shown = `It begins with ${JSON.stringify(line.slice(0, 60))}.`;
  if (/^[0-9a-g]:["[{]/.test(line)) {
    const fix = 'Update the server to AI SDK 5 or later, which uses server-sent events.';
    return new ToolError('unreadable', `This is the data stream of AI SDK 4, which is not supported. ${shown}`, fix);
  }
  if (/^<(?:!doctype|html|\?xml)/i.test(line)) {
    const fix = 'Give the address of the API that the page uses.';
    return new ToolError('unreadable', `This is a web page, not a stream. ${shown}`, fix);
  }
  const fix = 'Give the format with --input-format sse, ndjson, tape or json.';
  return new ToolError('unreadable', `This is neither server-sent events nor JSON lines nor a tape. ${shown}`, fix);
}
