import type { Interrupt, ResumeEntry } from '@ag-ui/core';
import type { Answer, JsonObject, Meta, Question } from '@intertie/core';
import { decodeBase64, encodeBase64 } from '@intertie/core/internal';
import { defined, isFields, isJsonObject, asNonEmptyText, asText } from './read-fields.ts';

const prefix = 'intertie:';

const approvalSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/** Converts a question to an interrupt, which the client answers with its next run. */
export function encodeInterrupt(question: Question, subagentRunId?: string): Interrupt {
  const { kind, toolCallId, reason, message = reason, schema, expiresAt } = question;
  return {
    id: encodeInterruptId(question),
    reason: toolCallId === undefined ? (kind === 'approval' ? 'confirmation' : 'input_required') : 'tool_call',
    ...defined({ message, toolCallId, expiresAt, subagentRunId }),
    ...(isJsonObject(schema) ? { responseSchema: schema } : kind === 'approval' && { responseSchema: approvalSchema }),
  };
}

/**
 * Returns the id of an interrupt. It contains the question without its message: the client's next request has only the id and
 * the answer, and a server without a store rebuilds the question from it.
 */
export function encodeInterruptId({ questionId, kind, toolCallId, reason, providerMetadata }: Question): string {
  const encoded = defined({ questionId, kind, toolCallId, reason, providerMetadata });
  const base64 = encodeBase64(new TextEncoder().encode(JSON.stringify(encoded)));
  return prefix + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Decodes the question from an interrupt's id. A foreign id becomes the id of a question with no other fields. */
export function decodeInterruptId(id: string): Question {
  if (id.startsWith(prefix)) {
    try {
      const base64 = id.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/');
      const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
      const encoded: unknown = JSON.parse(new TextDecoder().decode(decodeBase64(padded)));
      const questionId = isFields(encoded) ? asNonEmptyText(encoded.questionId) : undefined;
      if (isFields(encoded) && questionId !== undefined) {
        return {
          questionId,
          kind: encoded.kind === 'input' ? 'input' : 'approval',
          ...defined({ toolCallId: asNonEmptyText(encoded.toolCallId), reason: asText(encoded.reason) }),
          ...(isFields(encoded.providerMetadata) && { providerMetadata: encoded.providerMetadata as Meta }),
        };
      }
    } catch {
      // A foreign id with our prefix.
    }
  }
  return { questionId: id, kind: 'input' };
}

/** Decodes a client's answer: `{ approved, reason? }`, a boolean, or the requested value. */
export function decodeResume(entry: ResumeEntry, question: Question): Answer {
  const { questionId, kind } = question;
  if (entry.status === 'cancelled')
    return { questionId, cancelled: true, ...(kind === 'approval' && { approved: false }) };
  const payload = (entry.payload ?? null) as JsonObject[string];
  if (kind === 'input') return { questionId, value: payload };
  // An empty payload approves. Any other payload must contain an explicit yes.
  if (!isJsonObject(payload)) return { questionId, approved: payload === null || payload === true };
  return { questionId, approved: payload.approved === true, ...defined({ reason: asText(payload.reason) }) };
}
