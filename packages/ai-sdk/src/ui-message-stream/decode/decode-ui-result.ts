import type { Fault, Json, Meta, OnLoss, ToolResult } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import { takeSlot } from '../../shared/intertie-metadata.ts';
import { defined, asBoolean, isFields, jsonObjectOf, metaOf, asText } from '../../shared/read-fields.ts';
import type {
  UIToolOutputAvailableChunk,
  UIToolOutputDeniedChunk,
  UIToolOutputErrorChunk,
} from '../chunk/ui-message-chunk.ts';

export type OutputChunk = UIToolOutputAvailableChunk | UIToolOutputErrorChunk | UIToolOutputDeniedChunk;

/** What a chunk says came of a call. */
export function resultOf(chunk: OutputChunk, onLoss: OnLoss): ToolResult & { providerMetadata?: Meta } {
  if (chunk.type === 'tool-output-denied') return { status: 'denied' };
  const { slot, meta } = takeSlot(metaOf(chunk.providerMetadata, onLoss));
  const said = { ...(meta && { providerMetadata: meta }) };
  if (chunk.type === 'tool-output-error' && isFields(slot.denied)) {
    return { status: 'denied', ...defined({ reason: asText(slot.denied.reason) }), ...said };
  }
  if (chunk.type === 'tool-output-error') {
    return { status: 'error', error: faultOf(chunk.errorText, slot.error), ...said };
  }
  return {
    status: 'ok',
    output: toJson(chunk.output ?? null, onLoss),
    ...(slot.content === true && { content: true }),
    ...(chunk.preliminary && { preliminary: true }),
    ...said,
  };
}

/** An error by its text, and by what the slot adds to it. */
export function faultOf(message: string, said: Json | undefined): Fault {
  const { code, retryable, data } = jsonObjectOf(said ?? null) ?? {};
  return { message, ...defined({ code: asText(code), retryable: asBoolean(retryable), data }) };
}
