import { itemsOf } from './read-framing.ts';
import { ToolError } from '../tool-error.ts';
import type { Framing } from './frame.ts';

/** No item of a stream has a first line of this length. */
const maxHead = 1024 * 1024;

/**
 * The framing of an input that begins like this, or undefined where more of it is needed. Throws a `ToolError` where it can
 * be none, with what it seems to be instead.
 */
export function detectFraming(head: string, isWhole: boolean): Framing | undefined {
  const text = head.replace(/^\ufeff/, '').trimStart();
  const end = text.indexOf('\n');
  if (end === -1 && !isWhole) return text.length > maxHead ? 'json' : undefined;
  const line = (end === -1 ? text : text.slice(0, end)).trim();
  if (line === '')
    throw new ToolError('unreadable', 'The input is empty.', 'Is it the right file, and is it complete?');
  if (/^(?:data|event|id|retry) ?:|^:/.test(line)) return 'sse';
  if (line.startsWith('[')) return 'json';
  if (line.startsWith('{')) return framingOfObject(line);
  throw foreign(line);
}

function framingOfObject(line: string): Framing {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The first line of a document that was indented for people; or a line that is broken, which a stream has beside others.
    return /^\{\s*(?:"[^"]*"\s*:\s*[[{]?\s*)?$/.test(line) || /,\s*$/.test(line) ? 'json' : 'ndjson';
  }
  const { tape, dialect } = value as { tape?: unknown; dialect?: unknown };
  if (typeof tape === 'number' && typeof dialect === 'string') return 'tape';
  return itemsOf(value)[0] === value ? 'ndjson' : 'json';
}

function foreign(line: string): ToolError {
  const shown = `It begins with ${JSON.stringify(line.slice(0, 60))}.`;
  if (/^[0-9a-g]:["[{]/.test(line)) {
    const fix = 'Update the server to AI SDK 5 or later, whose stream is made of server-sent events.';
    return new ToolError('unreadable', `This is the data stream of AI SDK 4, which no tool here reads. ${shown}`, fix);
  }
  if (/^<(?:!doctype|html|\?xml)/i.test(line)) {
    const fix = 'Is it the address of a page? The tools read what the page’s own server sends to it.';
    return new ToolError('unreadable', `This is a page, not a stream. ${shown}`, fix);
  }
  const fix = 'If you know what it is, say so: --input-format sse, ndjson, tape or json.';
  return new ToolError('unreadable', `This is neither server-sent events nor JSON lines nor a tape. ${shown}`, fix);
}
