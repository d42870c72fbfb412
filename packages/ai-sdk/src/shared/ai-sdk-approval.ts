import { validateEvent, type Answer, type EventOf, type Json, type JsonObject, type Meta } from '@intertie/core';
import type { AskedQuestion } from '@intertie/core/store';
import { metadataKey } from './intertie-metadata.ts';
import { defined, asFields, isFields, asNonEmptyText, omit, asText } from './read-fields.ts';

/** What the SDK wants back with an approval, word for word: its signature, and the input before the schema changed it. */
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

/** Whether the answer allows the call, which is all that the SDK can say. Undefined: there is no answer. */
export function isApproved({ answer }: { answer?: Answer }): boolean | undefined {
  if (answer === undefined) return undefined;
  return answer.approved ?? (answer.cancelled === undefined && answer.value !== undefined);
}

/** What is left of an approval after a way through the SDK's messages. */
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

/** A question that a slot holds, checked as far as the rest of the code relies on it. */
export function parseQuestion(value: Json | undefined): AskedQuestion | undefined {
  const { questionId, kind, answer } = asFields(value);
  if (asNonEmptyText(questionId) === undefined || (kind !== 'approval' && kind !== 'input')) return undefined;
  if (answer !== undefined && asNonEmptyText(asFields(answer).questionId) === undefined) return undefined;
  return value as unknown as AskedQuestion;
}

/** The answer that our descriptor of an approval tells, where the stream has no chunk for one. A client may have sent it. */
export function parseDescriptorAnswer(descriptor: unknown, questionId: string): Answer | undefined {
  const { answer } = asFields(asFields(descriptor)[metadataKey]);
  if (!isFields(answer)) return undefined;
  const event = { type: 'answer', ...answer, questionId } as EventOf<'answer'>;
  if (validateEvent(event) !== undefined) return undefined;
  const known = omit(event, 'type', 'at', 'origin');
  return known;
}
