import type { Json, JsonObject, MessagePart } from '@intertie/core';
import { equalJson, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion } from '@intertie/core/store';
import { isApproved, toApproval, getApprovalProof } from '../shared/ai-sdk-approval.ts';
import type { ModelPart } from './model-steps.ts';
import { defined, asFields, asJsonObject, asNonEmptyText } from '../shared/read-fields.ts';

/**
 * Converts the input of a call to an object, as providers require. An invalid call may have any input, which only its error
 * explains. `takesText`: the tool takes free text, and the call goes back to the provider that made it.
 */
export function toModelInput(args: Json, isInvalid: boolean, takesText: boolean): JsonObject | string {
  if (takesText && !isInvalid && typeof args === 'string') return args;
  return asJsonObject(args) ?? (isInvalid || args === null ? {} : { value: args });
}

/** Whether the metadata of a call allows free text as input: OpenAI's custom tools, on OpenAI or Azure. */
export function isFreeText(meta: object | undefined): boolean {
  return meta !== undefined && (Object.hasOwn(meta, 'openai') || Object.hasOwn(meta, 'azure'));
}

/**
 * Finds the provider's ids of calls that called tools outside the provider. Anthropic's code execution and OpenAI's programs
 * do that, and have no result before those tools have theirs.
 */
export function findCallers(parts: readonly MessagePart[]): ReadonlySet<string> {
  const callers = new Set<string>();
  for (const part of parts) {
    if (part.type !== 'tool-invocation' || part.executor === 'provider') continue;
    for (const data of Object.values(part.providerMetadata ?? {})) {
      const { toolId, callerId } = asFields(data['caller']);
      const id = asNonEmptyText(toolId) ?? asNonEmptyText(callerId);
      if (id !== undefined) callers.add(id);
    }
  }
  return callers;
}

/** Collects the fields of a call that a model message cannot carry, for our metadata. */
export function callMetadata(part: ToolPart, input: Json): JsonObject {
  const { executor, dynamic, title, inputEncoding, toolMetadata, invalid, approval, error, state, args } = part;
  const isPlainError = state !== 'error' || error === undefined || Object.keys(error).length === 1;
  return defined({
    executor: executor === 'provider' ? undefined : executor,
    dynamic,
    title,
    inputEncoding,
    toolMetadata,
    invalid,
    approval: approval && isPlainApproval(approval) ? undefined : approval,
    error: isPlainError ? undefined : error,
    args: input === args ? undefined : args,
  });
}

/** Whether a model message can carry all fields of the approval. */
function isPlainApproval(approval: AskedQuestion): boolean {
  const { questionId, toolCallId = '', answer } = approval;
  const approved = isApproved(approval);
  const response = approved === undefined ? undefined : { approved, ...defined({ reason: answer?.reason }) };
  return equalJson(toApproval(questionId, toolCallId, getApprovalProof(approval), response), approval);
}

/** Encodes an approval as the parts of a model message: the request, and the response if there is an answer. */
export function encodeApproval(
  approval: AskedQuestion,
  toolCallId: string,
  isProviders: boolean,
): { request: ModelPart; response: ModelPart | undefined } {
  const { questionId: approvalId, answer } = approval;
  const approved = isApproved(approval);
  const response = {
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...defined({ reason: answer?.reason }),
    ...(isProviders && { providerExecuted: true }),
  };
  return {
    request: { type: 'tool-approval-request', approvalId, toolCallId, ...getApprovalProof(approval) },
    response: approved === undefined ? undefined : response,
  };
}
