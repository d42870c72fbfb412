import type { OnLoss } from '@intertie/core';
import { decodeBase64, encodeBase64, type FileBody } from '@intertie/core/internal';
import { asFields, isFields, asNonEmptyText, asText } from './read-fields.ts';

/** What a file is, where its bytes are not: every branch of `FileBody` without its name and type. */
type FileContent = { data: string } | { url: string } | { reference: { provider?: string; ref: string } };

/** The media type that stands for "not said" where the AI SDK demands one. */
export const unknownMediaType = 'application/octet-stream';

/** A file as the AI SDK's messages have it, in any of the shapes of 6 and 7, as canonical. */
export function parseFileBody(
  file: { data: unknown; mediaType?: unknown; filename?: unknown },
  onLoss: OnLoss,
): FileBody | undefined {
  const content = parseContent(file.data);
  if (content === undefined) {
    onLoss({ kind: 'unsupported', what: 'file', why: 'It has neither bytes nor a URL nor a reference to them.' });
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

/** A provider's reference: `{ openai: 'file-1' }`. Of several the first is taken: they are the same file. */
function parseReference(reference: unknown): FileContent | undefined {
  const [entry] = Object.entries(asFields(reference));
  const [provider, ref] = entry ?? [];
  return provider !== undefined && typeof ref === 'string' ? { reference: { provider, ref } } : undefined;
}

/** Bytes, or a URL: nobody says which. */
function parseText(text: string): FileContent & { inferred?: string } {
  // The alphabet of base64 has no colon, so what parses as a URL is one.
  return text.includes(':') || !isBase64(text) ? parseUrl(text) : { data: text };
}

/** Also a relative one, which may be written with letters of base64 alone. */
function parseUrl(url: string): FileContent & { inferred?: string } {
  return (url.startsWith('data:') ? parseDataUrl(url) : undefined) ?? { url };
}

/** `data:` URLs hold bytes, and bytes are kept as such. Undefined: it is one only by its beginning. */
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
