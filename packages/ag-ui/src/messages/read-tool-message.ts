import type { Fault, Json, Meta, OnLoss, ToolResult } from '@intertie/core';
import { toJson } from '@intertie/core';
import { readContent } from '../shared/content-part.ts';
import { withEncryptedValue } from '../shared/encrypted-value.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { asFields, isFields, asText, type Fields } from '../shared/read-fields.ts';
import { parseContainer } from '../shared/tool-content.ts';

/** Reads the result of a tool message or event. Returns undefined if it is marked as unsettled. */
export function readToolMessage(message: Fields, id: string, onLoss: OnLoss): ToolResult | undefined {
  const extra = asFields(asFields(message.metadata)[metadataKey]);
  const error = asText(message.error);
  if (extra.status === 'unsettled') return undefined;
  if (extra.status === 'denied') {
    const reason = asText(extra.reason);
    return { status: 'denied', ...(reason !== undefined && { reason }) };
  }
  if (extra.status === 'error' || error !== undefined) {
    const fault = asFields(extra.error);
    if (typeof fault.message === 'string') return { status: 'error', error: fault as Fault };
    return { status: 'error', error: { message: error ?? asText(message.content) ?? '' } };
  }
  if (Array.isArray(extra.content)) return { status: 'ok', output: extra.content as Json[], content: true };
  if (typeof message.content === 'string') {
    return { status: 'ok', output: parseOutput(message.content, extra.output) };
  }
  return { status: 'ok', output: toJson(readContent(message.content, id, onLoss), onLoss), content: true };
}

/** Reads the provider metadata of a result. */
export function readResultMeta(message: Fields): Meta | undefined {
  const { providerMetadata } = asFields(asFields(message.metadata)[metadataKey]);
  return withEncryptedValue(
    isFields(providerMetadata) ? (providerMetadata as Meta) : undefined,
    message.encryptedValue,
  );
}

/** Parses the text of a result if it is JSON of an object or list, or was encoded as JSON. */
function parseOutput(content: string, form: unknown): Json {
  if (form === 'text') return content;
  if (form !== 'json') return parseContainer(content) ?? content;
  if (content === '') return null;
  try {
    return JSON.parse(content) as Json;
  } catch {
    return content;
  }
}
