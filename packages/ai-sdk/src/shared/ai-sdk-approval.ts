import { validateEvent, type Answer, type EventOf, type Json, type JsonObject, type Meta } from '@intertie/core';
import type { AskedQuestion } from '@intertie/core/store';
import { metadataKey } from './intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, omit, asText } from './read-fields.ts';

/** Reads the fields that the SDK requires unchanged with an approval: its signature, and the input before the schema transformed it. */
export function getApprovalProof(question: { providerMetadata?: Meta }): {
  signature?: string;
  inputSchemaInput?: Json;
} {
  const { signature, inputSchemaInput } = question.providerMetadata?.['ai-sdk'] ?? {};
  return defined({ signature: asText(signature), inputSchemaInput });
}

function toProofMetadata(signature: unknown, inputSchemaInput: Json | undefined): { providerMetadata?: Meta } {
  const proof: JsonObject = defined({ signature: asText(signature), inputSchemaInput });
  return Object.keys(proof).length > 0 ? { providerMetadata: { 'ai-sdk': proof } } : {};
}

/** Reduces an answer to the yes or no that the SDK supports. Undefined if there is no answer. */
export function isApproved({ answer }: { answer?: Answer }): boolean | undefined {
  if (answer === undefined) return undefined;
  return answer.approved ?? (answer.cancelled === undefined && answer.value !== undefined);
}

/** Builds an approval from the fields that the SDK's messages can hold. */
export function toApproval(
  approvalId: string,
  toolCallId: string,
  proof: { signature?: unknown; inputSchemaInput?: Json },
  answer?: { approved: boolean; reason?: string },
): AskedQuestion {
  return {
    questionId: approvalId,
    kind: 'approval',
    toolCallId,
    ...toProofMetadata(proof.signature, proof.inputSchemaInput),
    ...(answer && { answer: { questionId: approvalId, ...answer } }),
  };
}

/** Reads a question from our metadata, which a client may have sent. Checks only the fields that callers rely on. */
export function parseQuestion(value: Json | undefined): AskedQuestion | undefined {
  const { questionId, kind, answer } = asFields(value);
  if (asNonEmptyText(questionId) === undefined || (kind !== 'approval' && kind !== 'input')) return undefined;
  if (answer !== undefined && asNonEmptyText(asFields(answer).questionId) === undefined) return undefined;
  return value as unknown as AskedQuestion;
}

/** Reads and validates the answer in our approval descriptor: ai 6 has no chunk for one. A client may have sent it. */
export function parseDescriptorAnswer(descriptor: unknown, questionId: string): Answer | undefined {
  const { answer } = asFields(asFields(descriptor)[metadataKey]);
  if (!isFields(answer)) return undefined;
  const event = { type: 'answer', ...answer, questionId } as EventOf<'answer'>;
  return validateEvent(event) === undefined ? omit(event, 'type', 'at', 'origin') : undefined;
}
