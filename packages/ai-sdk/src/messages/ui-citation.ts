import type { Json } from '@intertie/core';
import { asFields } from '../shared/read-fields.ts';

/** Whether ai 7 accepts a citation. It rejects the whole message if one is invalid. */
export function isCitation(value: Json): boolean {
  const { source, startIndex, endIndex, citedText } = asFields(value);
  const { type, sourceType, id, url, mediaType, title, filename } = asFields(source);
  if (type !== 'source' || typeof id !== 'string') return false;
  if (![startIndex, endIndex].every((index) => index === undefined || isIndex(index))) return false;
  if (![citedText, filename].every(isTextOrAbsent)) return false;
  if (sourceType === 'url') return typeof url === 'string' && isTextOrAbsent(title);
  return sourceType === 'document' && typeof mediaType === 'string' && typeof title === 'string';
}

function isIndex(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
