import type { Json, MessagePart, OnLoss, ToolResult } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { parseFileBody, unknownMediaType } from '../shared/file-body.ts';
import { defined, asFields, parseMetadata, asText } from '../shared/read-fields.ts';

/** Tool output of a model message, in a shape that both `ai` 6 and 7 accept. */
export type ModelToolOutput = { type: string; [key: string]: Json };

/** Encodes the outcome of a call. Undefined: the call has no final result. */
export function encodeToolOutput(part: ToolPart, onLoss: OnLoss): ModelToolOutput | undefined {
  switch (part.state) {
    case 'result': {
      const { result = null, resultContent } = part;
      if (resultContent && Array.isArray(result)) return { type: 'content', value: encodeContent(result, onLoss) };
      return typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result };
    }
    case 'error': {
      const { message, data } = part.error ?? { message: 'The tool failed.' };
      // A provider needs the error value of its own tool back unchanged.
      return part.executor === 'provider' && data !== undefined
        ? { type: 'error-json', value: data }
        : { type: 'error-text', value: message };
    }
    case 'denied':
      return { type: 'execution-denied', ...defined({ reason: part.error?.message }) };
    default:
      return undefined;
  }
}

/** Maximum length of encoded text that is sent to a provider other than its author. */
const maxOpaque = 1024;

/** Replaces long encoded strings: images, and content that only the provider that made it can decrypt. */
export function withoutOpaqueData(output: ModelToolOutput, onReplace: () => void): ModelToolOutput {
  if (output.type === 'content') return output;
  const strip = (value: Json): Json => {
    if (typeof value === 'string' && value.length > maxOpaque && /^[\w+/=-]+$/.test(value)) {
      onReplace();
      return `(${value.length} characters of encoded data)`;
    }
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, strip(inner)]));
  };
  return strip(output) as ModelToolOutput;
}

function encodeContent(parts: readonly Json[], onLoss: OnLoss): Json[] {
  return parts.map((value): Json => {
    const { type, text, providerMetadata, mimeType, filename, data, url, reference } = asFields(value);
    const providerOptions = parseMetadata(providerMetadata, onLoss);
    const more = defined({ providerOptions });
    const mediaType = asText(mimeType);
    if (type === 'text') return { type, text: asText(text) ?? '', ...more };
    if (type === 'file' && typeof data === 'string') {
      const name = defined({ filename: asText(filename) });
      return { type: 'file-data', data, mediaType: mediaType ?? unknownMediaType, ...name, ...more };
    }
    if (type === 'file' && typeof url === 'string')
      return { type: 'file-url', url, ...defined({ mediaType }), ...more };
    const { provider, ref } = asFields(reference);
    if (type === 'file' && typeof ref === 'string') {
      return { type: 'file-id', fileId: typeof provider === 'string' ? { [provider]: ref } : ref, ...more };
    }
    // The model reads any other content as text.
    return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
  });
}

/** Decodes the tool output of a model message. */
export function decodeToolOutput(value: unknown, onLoss: OnLoss): ToolResult {
  const output = asFields(value);
  const json = toJson(output.value ?? null, onLoss);
  switch (output.type) {
    case 'content': {
      const items = Array.isArray(output.value) ? output.value : [];
      const parts = items.flatMap((item) => decodeContentPart(item, onLoss) ?? []);
      return { status: 'ok', output: parts as unknown as Json, content: true };
    }
    case 'error-text':
      return { status: 'error', error: { message: asText(output.value) ?? JSON.stringify(json) } };
    case 'error-json':
      return {
        status: 'error',
        error: { message: typeof json === 'string' ? json : JSON.stringify(json), data: json },
      };
    case 'execution-denied':
      return { status: 'denied', ...defined({ reason: asText(output.reason) }) };
    case 'text':
    case 'json':
      return { status: 'ok', output: json };
    default:
      // `ai` 4 has the bare result here.
      return { status: 'ok', output: toJson(value ?? null, onLoss) };
  }
}

function decodeContentPart(value: unknown, onLoss: OnLoss): MessagePart | undefined {
  const item = asFields(value);
  const meta = parseMetadata(item.providerOptions, onLoss);
  const more = meta ? { providerMetadata: meta } : {};
  if (item.type === 'text') return { type: 'text', text: asText(item.text) ?? '', ...more };
  const data = item.type === 'file' ? item.data : (item.data ?? item.url ?? toReference(item.fileId));
  const isImage = typeof item.type === 'string' && item.type.startsWith('image');
  const mediaType = item.mediaType ?? (isImage ? 'image/*' : undefined);
  const body = parseFileBody({ data, mediaType, filename: item.filename }, onLoss);
  return body && { type: 'file', ...body, ...more };
}

function toReference(fileId: unknown): unknown {
  return typeof fileId === 'string' ? { type: 'reference', reference: { unknown: fileId } } : fileId;
}
