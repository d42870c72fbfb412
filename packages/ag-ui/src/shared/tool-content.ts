import type { ContentPart } from '@ag-ui/core';
import type { Json, JsonObject, ToolResult } from '@intertie/core';
import { toContentPart } from './content-part.ts';
import { isJsonObject } from './read-fields.ts';

/** Encoded result. `metadata`: our fields; `error`: text of a failure or denial. */
export type ToolContent = { content: string | ContentPart[]; metadata: JsonObject; error?: string };

/**
 * Encodes a tool result: strings unchanged, null as an empty string, everything else as JSON. AG-UI has no status field, so
 * errors and denials are marked in the metadata. `parts`: whether the client accepts content parts.
 */
export function encodeToolResult(result: ToolResult, parts: boolean): ToolContent {
  switch (result.status) {
    case 'error':
      return {
        content: result.error.message,
        metadata: { status: 'error', error: result.error },
        error: result.error.message,
      };
    case 'denied': {
      const error = result.reason ?? 'The call was denied.';
      return {
        content: error,
        metadata: { status: 'denied', ...(result.reason !== undefined && { reason: result.reason }) },
        error,
      };
    }
    case 'ok':
      return result.content && Array.isArray(result.output)
        ? encodeContent(result.output, parts)
        : encodeOutput(result.output);
  }
}

function encodeOutput(output: Json): ToolContent {
  if (typeof output === 'string') return { content: output, metadata: isContainer(output) ? { output: 'text' } : {} };
  const content = output === null ? '' : JSON.stringify(output);
  return { content, metadata: typeof output === 'object' && output !== null ? {} : { output: 'json' } };
}

function encodeContent(output: Json[], parts: boolean): ToolContent {
  if (parts) {
    const content = output.map((part) => toContentPart(part) ?? { type: 'text' as const, text: plainText(part) });
    // A part that AG-UI lacks is text to the client; the metadata restores the original.
    const isWhole = output.every((part) => isJsonObject(part) && toContentPart(part) !== undefined);
    return { content, metadata: isWhole ? {} : { content: output } };
  }
  return { content: output.map(plainText).join('\n'), metadata: { content: output } };
}

/** Returns the text of a content part; for a file, its name or media type. */
function plainText(part: Json): string {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) return JSON.stringify(part);
  if (typeof part.text === 'string') return part.text;
  if (part.type !== 'file') return JSON.stringify(part);
  const name = part.filename ?? part.url ?? part.mimeType;
  return `[${typeof name === 'string' ? name : 'file'}]`;
}

/** Whether a string would be parsed as an object or a list. */
function isContainer(text: string): boolean {
  return parseContainer(text) !== undefined;
}

/** Parses a string if it is the JSON of an object or a list. */
export function parseContainer(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
