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

/** A question as the interrupt that the client answers with its next run. */
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
 * The next request of a client says the interrupt's id and the answer, and not what was asked. So the id holds the question
 * itself, without its words: a server that has stored nothing rebuilds it.
 */
export function encodeInterruptId({ questionId, kind, toolCallId, reason, providerMetadata }: Question): string {
  const kept = defined({ questionId, kind, toolCallId, reason, providerMetadata });
  const base64 = encodeBase64(new TextEncoder().encode(JSON.stringify(kept)));
  return prefix + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The question behind an interrupt's id. A foreign id is the id of a question of which nothing else is known. */
export function decodeInterruptId(id: string): Question {
  if (id.startsWith(prefix)) {
    try {
      const base64 = id.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/');
      const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
      const kept: unknown = JSON.parse(new TextDecoder().decode(decodeBase64(padded)));
      const questionId = isFields(kept) ? asNonEmptyText(kept.questionId) : undefined;
      if (isFields(kept) && questionId !== undefined) {
        return {
          questionId,
          kind: kept.kind === 'input' ? 'input' : 'approval',
          ...defined({ toolCallId: asNonEmptyText(kept.toolCallId), reason: asText(kept.reason) }),
          ...(isFields(kept.providerMetadata) && { providerMetadata: kept.providerMetadata as Meta }),
        };
      }
    } catch {
      // Somebody else's id that begins like ours.
    }
  }
  return { questionId: id, kind: 'input' };
}

/** What a client answers to a question: `{ approved, reason? }`, a bare yes or no, or the value that was asked for. */
export function decodeResume(entry: ResumeEntry, question: Question): Answer {
  const { questionId, kind } = question;
  if (entry.status === 'cancelled')
    return { questionId, cancelled: true, ...(kind === 'approval' && { approved: false }) };
  const payload = (entry.payload ?? null) as JsonObject[string];
  if (kind === 'input') return { questionId, value: payload };
  // Nobody approves by accident: to resolve without a word is to let it go on, and whatever else is not a yes is a no.
  if (!isJsonObject(payload)) return { questionId, approved: payload === null || payload === true };
  return { questionId, approved: payload.approved === true, ...defined({ reason: asText(payload.reason) }) };
}
