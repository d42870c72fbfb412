import type { ContentPart, PartSource } from '@ag-ui/core';
import type { Json, Meta, OnLoss } from '@intertie/core';
import type { FileBody, FilePart, TextPart } from '@intertie/core/internal';
import { toMetadata, metadataKey } from './intertie-metadata.ts';
import { defined, asFields, isFields, isJsonObject, asNonEmptyText, asText } from './read-fields.ts';

const unknownMediaType = 'application/octet-stream';

/** Converts a text or file part to an AG-UI content part. Returns undefined for anything else. */
export function toContentPart(part: Json): ContentPart | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type, text, mimeType, filename, data, url, reference, providerMetadata } = part;
  const metadata = toMetadata(defined({ filename, providerMetadata }));
  if (type === 'text' && typeof text === 'string') return { type, text, ...metadata };
  if (type !== 'file') return undefined;
  const source = toPartSource(data, url, reference, asText(mimeType));
  return source && { type: toPartType(asText(mimeType)), source, ...metadata };
}

function toPartSource(
  data: unknown,
  url: unknown,
  reference: unknown,
  mimeType: string | undefined,
): PartSource | undefined {
  if (typeof data === 'string') return { type: 'data', value: data, mimeType: mimeType ?? unknownMediaType };
  if (typeof url === 'string') return { type: 'url', value: url, ...defined({ mimeType }) };
  const { provider, ref } = asFields(reference);
  if (typeof ref !== 'string') return undefined;
  return { type: 'file', value: ref, ...defined({ provider: asText(provider), mimeType }) };
}

function toPartType(mimeType = ''): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** Reads a content part of any version. Returns undefined if it is unusable. */
function readContentPart(value: unknown): TextPart | FilePart | undefined {
  const part = asFields(value);
  const extra = asFields(asFields(part.metadata)[metadataKey]);
  const fields = {
    ...(isFields(extra.providerMetadata) && { providerMetadata: extra.providerMetadata as Meta }),
  };
  if (part.type === 'text') {
    const text = asText(part.text);
    return text === undefined ? undefined : { type: 'text', text, ...fields };
  }
  const body = part.type === 'binary' ? readLegacyBody(part) : readFileBody(asFields(part.source));
  const filename = asNonEmptyText(extra.filename) ?? asNonEmptyText(part.filename);
  return body && { type: 'file', ...body, ...defined({ filename }), ...fields };
}

/** Reads a message's content, a string or parts. Unusable parts are reported and left out. */
export function readContent(content: unknown, id: string, onLoss: OnLoss): Array<TextPart | FilePart> {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (Array.isArray(content) ? content : []).flatMap((item: unknown) => {
    const part = readContentPart(item);
    if (part) return [part];
    const what = `content part ${String(asFields(item).type)}`;
    onLoss({ kind: 'unsupported', what, why: 'It cannot be read and is left out.', id });
    return [];
  });
}

function readFileBody(source: { readonly [key: string]: unknown }): FileBody | undefined {
  const value = asNonEmptyText(source.value);
  const mimeType = asNonEmptyText(source.mimeType);
  if (value === undefined) return undefined;
  if (source.type === 'data') return { data: value, ...defined({ mimeType }) };
  if (source.type === 'url') return readUrlBody(value, mimeType);
  if (source.type !== 'file') return undefined;
  return {
    reference: { ref: value, ...defined({ provider: asNonEmptyText(source.provider) }) },
    ...defined({ mimeType }),
  };
}

/** Reads a file URL. A `data:` URL contains the bytes. */
function readUrlBody(url: string, mimeType: string | undefined): FileBody {
  const [, type, data] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url) ?? [];
  return data === undefined
    ? { url, ...defined({ mimeType }) }
    : { data, ...defined({ mimeType: mimeType ?? asNonEmptyText(type) }) };
}

/** Reads a `binary` part, which clients before 0.0.50 send for all files. */
function readLegacyBody(part: { readonly [key: string]: unknown }): FileBody | undefined {
  const fields = defined({ mimeType: asNonEmptyText(part.mimeType) });
  const data = asNonEmptyText(part.data);
  if (data !== undefined) return { data, ...fields };
  const url = asNonEmptyText(part.url);
  if (url !== undefined) return readUrlBody(url, fields.mimeType);
  const ref = asNonEmptyText(part.id);
  return ref === undefined ? undefined : { reference: { ref }, ...fields };
}
