import type { MessagePart, OnLoss } from '@intertie/core';
import { parseFileBody } from './file-body.ts';
import { parseIdentity, splitMetadata } from './intertie-metadata.ts';
import { asFields, toKey, parseMetadata, asText } from './read-fields.ts';

/** Decodes the content of a user's model message, a string or a list of parts. */
export function decodeUserContent(content: unknown, onLoss: OnLoss): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.flatMap((part) => decodeUserPart(part, onLoss) ?? []) : [];
}

function decodeUserPart(value: unknown, onLoss: OnLoss): MessagePart | undefined {
  const part = asFields(value);
  const { intertie, meta } = splitMetadata(parseMetadata(part.providerOptions, onLoss));
  const shared = { ...parseIdentity(intertie), ...(meta && { providerMetadata: meta }) };
  switch (part.type) {
    case 'text':
      return { type: 'text', text: asText(part.text) ?? '', ...shared };
    case 'image':
    case 'file': {
      const data = part.type === 'image' ? part.image : part.data;
      const mediaType = part.mediaType ?? (part.type === 'image' ? 'image/*' : undefined);
      const body = parseFileBody({ data, mediaType, filename: part.filename }, onLoss);
      return body && { type: 'file', ...body, ...shared };
    }
    default:
      onLoss({ kind: 'unsupported', what: toKey(part.type), why: 'A user message contains only text and files.' });
      return undefined;
  }
}
