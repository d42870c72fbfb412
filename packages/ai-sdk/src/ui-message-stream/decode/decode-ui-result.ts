import type { Fault, Json, Meta, OnLoss, ToolResult } from '@intertie/core';
import { toJson } from '@intertie/core';
import { splitMetadata } from '../../shared/intertie-metadata.ts';
import { defined, asBoolean, isFields, asJsonObject, parseMetadata, asText } from '../../shared/read-fields.ts';
import type {
  UIToolOutputAvailableChunk,
  UIToolOutputDeniedChunk,
  UIToolOutputErrorChunk,
} from '../chunk/ui-message-chunk.ts';

export type OutputChunk = UIToolOutputAvailableChunk | UIToolOutputErrorChunk | UIToolOutputDeniedChunk;

/** Decodes an output chunk to the result of its call. */
export function toToolResult(chunk: OutputChunk, onLoss: OnLoss): ToolResult & { providerMetadata?: Meta } {
  if (chunk.type === 'tool-output-denied') return { status: 'denied' };
  const { intertie, meta } = splitMetadata(parseMetadata(chunk.providerMetadata, onLoss));
  const metadata = { ...(meta && { providerMetadata: meta }) };
  if (chunk.type === 'tool-output-error' && isFields(intertie.denied)) {
    return { status: 'denied', ...defined({ reason: asText(intertie.denied.reason) }), ...metadata };
  }
  if (chunk.type === 'tool-output-error') {
    return { status: 'error', error: parseFault(chunk.errorText, intertie.error), ...metadata };
  }
  return {
    status: 'ok',
    output: toJson(chunk.output ?? null, onLoss),
    ...(intertie.content === true && { content: true }),
    ...(chunk.preliminary && { preliminary: true }),
    ...metadata,
  };
}

/** Builds a fault from an error text and the fields in our metadata. */
export function parseFault(message: string, metadata: Json | undefined): Fault {
  const { code, retryable, data } = asJsonObject(metadata ?? null) ?? {};
  return { message, ...defined({ code: asText(code), retryable: asBoolean(retryable), data }) };
}
