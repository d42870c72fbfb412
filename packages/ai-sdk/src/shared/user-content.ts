import type { MessagePart, OnLoss } from '@intertie/core';
import { fileBodyOf } from './file-body.ts';
import { keptOf, takeSlot } from './intertie-metadata.ts';
import { asFields, keyOf, metaOf, asText } from './read-fields.ts';

/** The content of a user's model message, a string or parts, as canonical parts. */
export function decodeUserContent(content: unknown, onLoss: OnLoss): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.flatMap((part) => decodeUserPart(part, onLoss) ?? []) : [];
}

function decodeUserPart(value: unknown, onLoss: OnLoss): MessagePart | undefined {
  const part = asFields(value);
  const { slot, meta } = takeSlot(metaOf(part.providerOptions, onLoss));
  const kept = { ...keptOf(slot), ...(meta && { providerMetadata: meta }) };
  switch (part.type) {
    case 'text':
      return { type: 'text', text: asText(part.text) ?? '', ...kept };
    case 'image':
    case 'file': {
      const data = part.type === 'image' ? part.image : part.data;
      const mediaType = part.mediaType ?? (part.type === 'image' ? 'image/*' : undefined);
      const body = fileBodyOf({ data, mediaType, filename: part.filename }, onLoss);
      return body && { type: 'file', ...body, ...kept };
    }
    default:
      onLoss({ kind: 'unsupported', what: keyOf(part.type), why: 'A user says text and files, nothing else.' });
      return undefined;
  }
}
