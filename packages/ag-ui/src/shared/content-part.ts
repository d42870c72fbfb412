import type { ContentPart, PartSource } from '@ag-ui/core';
import type { Json, Meta, OnLoss } from '@intertie/core';
import type { FileBody, FilePart, TextPart } from '@intertie/core/internal';
import { slot, slotKey } from './intertie-metadata.ts';
import { defined, asFields, isFields, isJsonObject, asNonEmptyText, asText } from './read-fields.ts';

const unknownMediaType = 'application/octet-stream';

/** A text or file part as AG-UI has it; undefined for what is neither. */
export function contentPartOf(part: Json): ContentPart | undefined {
  if (!isJsonObject(part)) return undefined;
  const { type, text, mimeType, filename, data, url, reference, providerMetadata } = part;
  const metadata = slot(defined({ filename, providerMetadata }));
  if (type === 'text' && typeof text === 'string') return { type, text, ...metadata };
  if (type !== 'file') return undefined;
  const source = sourceOf(data, url, reference, asText(mimeType));
  return source && { type: kindOf(asText(mimeType)), source, ...metadata };
}

function sourceOf(
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

function kindOf(mimeType = ''): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** A content part of any version as a text or file part; undefined for what cannot be used. */
function readContentPart(value: unknown): TextPart | FilePart | undefined {
  const part = asFields(value);
  const kept = asFields(asFields(part.metadata)[slotKey]);
  const more = {
    ...(isFields(kept.providerMetadata) && { providerMetadata: kept.providerMetadata as Meta }),
  };
  if (part.type === 'text') {
    const text = asText(part.text);
    return text === undefined ? undefined : { type: 'text', text, ...more };
  }
  const body = part.type === 'binary' ? legacyBody(part) : bodyOf(asFields(part.source));
  const filename = asNonEmptyText(kept.filename) ?? asNonEmptyText(part.filename);
  return body && { type: 'file', ...body, ...defined({ filename }), ...more };
}

/** A message's content, which is a string or parts. What cannot be used is reported and left out. */
export function readContent(content: unknown, id: string, onLoss: OnLoss): Array<TextPart | FilePart> {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (Array.isArray(content) ? content : []).flatMap((item: unknown) => {
    const part = readContentPart(item);
    if (part) return [part];
    const what = `content part ${String(asFields(item).type)}`;
    onLoss({ kind: 'unsupported', what, why: 'It cannot be used, and the run goes on without it.', id });
    return [];
  });
}

function bodyOf(source: { readonly [key: string]: unknown }): FileBody | undefined {
  const value = asNonEmptyText(source.value);
  const mimeType = asNonEmptyText(source.mimeType);
  if (value === undefined) return undefined;
  if (source.type === 'data') return { data: value, ...defined({ mimeType }) };
  if (source.type === 'url') return urlBody(value, mimeType);
  if (source.type !== 'file') return undefined;
  return {
    reference: { ref: value, ...defined({ provider: asNonEmptyText(source.provider) }) },
    ...defined({ mimeType }),
  };
}

/** A `data:` URL holds the bytes themselves. */
function urlBody(url: string, mimeType: string | undefined): FileBody {
  const [, type, data] = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s.exec(url) ?? [];
  return data === undefined
    ? { url, ...defined({ mimeType }) }
    : { data, ...defined({ mimeType: mimeType ?? asNonEmptyText(type) }) };
}

/** What clients before 0.0.50 send: one kind of part for all files. */
function legacyBody(part: { readonly [key: string]: unknown }): FileBody | undefined {
  const more = defined({ mimeType: asNonEmptyText(part.mimeType) });
  const data = asNonEmptyText(part.data);
  if (data !== undefined) return { data, ...more };
  const url = asNonEmptyText(part.url);
  if (url !== undefined) return urlBody(url, more.mimeType);
  const ref = asNonEmptyText(part.id);
  return ref === undefined ? undefined : { reference: { ref }, ...more };
}
