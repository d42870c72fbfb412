import type { OnLoss } from '@intertie/core';
import { decodeBase64, encodeBase64, type FileBody } from '@intertie/core/internal';
import { asFields, isFields, asNonEmptyText, asText } from './read-fields.ts';

/** Content of a file: the variants of `FileBody` without filename and media type. */
type FileContent = { data: string } | { url: string } | { reference: { provider?: string; ref: string } };

/** Media type of files without one, where the AI SDK requires it. */
export const unknownMediaType = 'application/octet-stream';

/** Converts a file of the AI SDK's messages, in any shape of ai 6 and 7. Reports a file without content as lost. */
export function parseFileBody(
  file: { data: unknown; mediaType?: unknown; filename?: unknown },
  onLoss: OnLoss,
): FileBody | undefined {
  const content = parseContent(file.data);
  if (content === undefined) {
    onLoss({ kind: 'unsupported', what: 'file', why: 'The file has no bytes, URL or provider reference.' });
    return undefined;
  }
  const { inferred, ...body } = content;
  const mimeType = asNonEmptyText(file.mediaType) ?? inferred;
  const filename = asText(file.filename);
  return { ...(mimeType !== undefined && { mimeType }), ...(filename !== undefined && { filename }), ...body };
}

function parseContent(data: unknown): (FileContent & { inferred?: string }) | undefined {
  if (typeof data === 'string') return parseText(data);
  if (data instanceof URL) return parseText(data.href);
  if (data instanceof Uint8Array) return { data: encodeBase64(data) };
  if (data instanceof ArrayBuffer) return { data: encodeBase64(new Uint8Array(data)) };
  if (!isFields(data)) return undefined;
  switch (data.type) {
    case 'data':
      return parseContent(data.data);
    case 'url':
      return typeof data.url === 'string' ? parseUrl(data.url) : parseContent(data.url);
    case 'text':
      return typeof data.text === 'string'
        ? { data: encodeBase64(new TextEncoder().encode(data.text)), inferred: 'text/plain' }
        : undefined;
    case 'reference':
      return parseReference(data.reference);
    default:
      return parseReference(data);
  }
}

/** Parses a provider reference such as `{ openai: 'file-1' }`. Takes the first of several: all name the same file. */
function parseReference(reference: unknown): FileContent | undefined {
  const [entry] = Object.entries(asFields(reference));
  const [provider, ref] = entry ?? [];
  return provider !== undefined && typeof ref === 'string' ? { reference: { provider, ref } } : undefined;
}

/** Parses a string that is base64 or a URL; the SDK does not distinguish them. */
function parseText(text: string): FileContent & { inferred?: string } {
  // The base64 alphabet has no colon, so a string with one is a URL.
  return text.includes(':') || !isBase64(text) ? parseUrl(text) : { data: text };
}

/** Not checked for base64 first: a relative URL can consist of base64 characters only. */
function parseUrl(url: string): FileContent & { inferred?: string } {
  return (url.startsWith('data:') ? parseDataUrl(url) : undefined) ?? { url };
}

/** Decodes a `data:` URL to base64. Undefined if it is malformed. */
export function parseDataUrl(url: string): { data: string; inferred?: string } | undefined {
  const comma = url.indexOf(',');
  if (comma === -1) return undefined;
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const body = url.slice(comma + 1);
  const inferred = mediaType === '' ? {} : { inferred: mediaType };
  if (parameters.includes('base64')) return isBase64(body) ? { data: body, ...inferred } : undefined;
  try {
    return { data: encodeBase64(new TextEncoder().encode(decodeURIComponent(body))), ...inferred };
  } catch {
    return undefined;
  }
}

export function toDataUrl({ data, mimeType = '' }: { data: string; mimeType?: string }): string {
  return `data:${mimeType};base64,${data}`;
}

function isBase64(text: string): boolean {
  try {
    decodeBase64(text);
    return true;
  } catch {
    return false;
  }
}
