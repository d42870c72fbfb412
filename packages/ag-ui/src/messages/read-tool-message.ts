import type { Fault, Json, Meta, OnLoss, ToolResult } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import { readContent } from '../shared/content-part.ts';
import { withEncryptedValue } from '../shared/encrypted-value.ts';
import { slotKey } from '../shared/intertie-metadata.ts';
import { asFields, isFields, asText, type Fields } from '../shared/read-fields.ts';
import { parseContainer } from '../shared/tool-content.ts';

/** What came of a call, as a tool message says it. Undefined: it says that nobody has answered. */
export function readToolMessage(message: Fields, id: string, onLoss: OnLoss): ToolResult | undefined {
  const kept = asFields(asFields(message.metadata)[slotKey]);
  const error = asText(message.error);
  if (kept.status === 'unsettled') return undefined;
  if (kept.status === 'denied') {
    const reason = asText(kept.reason);
    return { status: 'denied', ...(reason !== undefined && { reason }) };
  }
  if (kept.status === 'error' || error !== undefined) {
    const fault = asFields(kept.error);
    if (typeof fault.message === 'string') return { status: 'error', error: fault as Fault };
    return { status: 'error', error: { message: error ?? asText(message.content) ?? '' } };
  }
  if (Array.isArray(kept.content)) return { status: 'ok', output: kept.content as Json[], content: true };
  if (typeof message.content === 'string') {
    return { status: 'ok', output: outputOf(message.content, kept.output) };
  }
  return { status: 'ok', output: toJson(readContent(message.content, id, onLoss), onLoss), content: true };
}

/** What is said of a result beside it. */
export function resultMetaOf(message: Fields): Meta | undefined {
  const { providerMetadata } = asFields(asFields(message.metadata)[slotKey]);
  return withEncryptedValue(
    isFields(providerMetadata) ? (providerMetadata as Meta) : undefined,
    message.encryptedValue,
  );
}

/** What a result's text says: an object or a list where it is the JSON of one, else the text itself. */
function outputOf(content: string, form: unknown): Json {
  if (form === 'text') return content;
  if (form !== 'json') return parseContainer(content) ?? content;
  if (content === '') return null;
  try {
    return JSON.parse(content) as Json;
  } catch {
    return content;
  }
}
