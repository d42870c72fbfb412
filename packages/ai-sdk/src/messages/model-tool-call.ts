import type { Json, JsonObject, MessagePart } from '@intertie/core';
import { equalJson, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion } from '@intertie/core/store';
import { isApproved, toApproval, getApprovalProof } from '../shared/ai-sdk-approval.ts';
import { defined, asFields, asJsonObject, asNonEmptyText } from '../shared/read-fields.ts';

/**
 * The input of a call as providers take it: an object. An invalid call may have anything, and is only shown for its error.
 * `takesText`: the call is of a tool whose input is free text, and goes back to the provider that made it.
 */
export function inputOf(args: Json, isInvalid: boolean, takesText: boolean): JsonObject | string {
  if (takesText && !isInvalid && typeof args === 'string') return args;
  return asJsonObject(args) ?? (isInvalid || args === null ? {} : { value: args });
}

/** OpenAI's custom tools have free text for input; their calls carry metadata under one of these keys. */
export function isFreeText(meta: object | undefined): boolean {
  return meta !== undefined && (Object.hasOwn(meta, 'openai') || Object.hasOwn(meta, 'azure'));
}

/**
 * Provider ids of the calls that called tools outside the provider. Anthropic's code execution and OpenAI's programs do that, and
 * have no result of their own before those tools have theirs.
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

/** What of a call a model message has no field for. */
export function toolSlot(part: ToolPart, input: Json): JsonObject {
  const { executor, dynamic, title, inputEncoding, toolMetadata, invalid, approval, error, state, args } = part;
  const isPlainError = state !== 'error' || error === undefined || Object.keys(error).length === 1;
  return defined({
    executor: executor === 'provider' ? undefined : executor,
    dynamic,
    title,
    inputEncoding,
    toolMetadata,
    invalid,
    approval: approval && isPlain(approval) ? undefined : approval,
    error: isPlainError ? undefined : error,
    args: input === args ? undefined : args,
  });
}

/** Whether a model message holds all of it. */
function isPlain(approval: AskedQuestion): boolean {
  const { questionId, toolCallId = '', answer } = approval;
  const approved = isApproved(approval);
  const said = approved === undefined ? undefined : { approved, ...defined({ reason: answer?.reason }) };
  return equalJson(toApproval(questionId, toolCallId, getApprovalProof(approval), said), approval);
}
