/**
 * A question about no call is a tool part in the UI, and tool parts have ids. Those of questions are a name space of their own
 * in the canon, so the part needs one that no call has. Ids of calls are minted from run ids or by providers, and none of them
 * begins like this.
 */
const prefix = 'intertie:question:';

/** The `toolCallId` of the tool part that carries a question. */
export function toQuestionCallId(questionId: string): string {
  return prefix + questionId;
}

/** The question that a tool part carries. Undefined: it carries none. */
export function parseQuestionId(toolCallId: unknown): string | undefined {
  if (typeof toolCallId !== 'string' || !toolCallId.startsWith(prefix)) return undefined;
  return toolCallId.slice(prefix.length) || undefined;
}

/**
 * The approval of a call that was denied without an answer of "no": a UI part is denied only through an approval, so this one
 * is made up for it, and nobody was asked.
 */
export function toDenialId(toolCallId: string): string {
  return `intertie:denied:${toolCallId}`;
}

/** What is said of such a call where nobody has given a reason. */
export const defaultDenialText = 'The call was denied.';
