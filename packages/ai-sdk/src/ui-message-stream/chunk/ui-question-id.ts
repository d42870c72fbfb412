/**
 * Prefix of tool call ids for questions without a call, which are tool parts in the UI. Question ids and call ids are separate
 * namespaces; ids of calls start with a run id or come from a provider, so none has this prefix.
 */
const prefix = 'intertie:question:';

/** Returns the `toolCallId` of a question's tool part. */
export function toQuestionCallId(questionId: string): string {
  return prefix + questionId;
}

/** Returns the question id of a tool part. Undefined if the part is not a question. */
export function parseQuestionId(toolCallId: unknown): string | undefined {
  if (typeof toolCallId !== 'string' || !toolCallId.startsWith(prefix)) return undefined;
  return toolCallId.slice(prefix.length) || undefined;
}

/**
 * Returns the id of the synthetic approval for a call that was denied without a refusal: a UI part can only be denied through
 * an approval.
 */
export function toDenialId(toolCallId: string): string {
  return `intertie:denied:${toolCallId}`;
}

/** Text for a denied call without a reason. */
export const defaultDenialText = 'The call was denied.';
