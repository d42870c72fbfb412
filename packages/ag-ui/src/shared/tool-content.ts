import type { ContentPart } from '@ag-ui/core';
import type { Json, JsonObject, ToolResult } from '@intertie/core';
import { contentPartOf } from './content-part.ts';
import { isJsonObject } from './read-fields.ts';

export type ToolContent = { content: string | ContentPart[]; slot: JsonObject; error?: string };

/**
 * A result as AG-UI has it: a string as it is, nothing as the empty string, everything else as JSON. That it failed or was
 * denied is in the slot, since the event has no field for it. `parts`: whether the client takes content parts.
 */
export function encodeToolResult(result: ToolResult, parts: boolean): ToolContent {
  switch (result.status) {
    case 'error':
      return {
        content: result.error.message,
        slot: { status: 'error', error: result.error },
        error: result.error.message,
      };
    case 'denied': {
      const error = result.reason ?? 'The call was denied.';
      return {
        content: error,
        slot: { status: 'denied', ...(result.reason !== undefined && { reason: result.reason }) },
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
  if (typeof output === 'string') return { content: output, slot: isContainer(output) ? { output: 'text' } : {} };
  const content = output === null ? '' : JSON.stringify(output);
  return { content, slot: typeof output === 'object' && output !== null ? {} : { output: 'json' } };
}

function encodeContent(output: Json[], parts: boolean): ToolContent {
  if (parts) {
    const content = output.map((part) => contentPartOf(part) ?? { type: 'text' as const, text: plainText(part) });
    // A part that AG-UI cannot say is text to the client, and comes back as it was.
    const isWhole = output.every((part) => isJsonObject(part) && contentPartOf(part) !== undefined);
    return { content, slot: isWhole ? {} : { content: output } };
  }
  return { content: output.map(plainText).join('\n'), slot: { content: output } };
}

/** The words of a content part; of a file, its name or its kind. */
function plainText(part: Json): string {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) return JSON.stringify(part);
  if (typeof part.text === 'string') return part.text;
  if (part.type !== 'file') return JSON.stringify(part);
  const name = part.filename ?? part.url ?? part.mimeType;
  return `[${typeof name === 'string' ? name : 'file'}]`;
}

/** Whether a string would be read as an object or a list. */
function isContainer(text: string): boolean {
  return parseContainer(text) !== undefined;
}

/** The object or list that a string is the JSON of. */
export function parseContainer(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
