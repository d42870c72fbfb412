import type { Answer, Json, JsonObject, Question } from '@intertie/core';
import { asFields, defined } from '@intertie/core/internal';

/** Name of the client tool that stands for a question of an agent. */
export const askTool = 'ask';

/** Name in an approval request that is not about a tool call. */
export const approveName = 'approve';

const askPrefix = 'ask_';

/** Whether a `function_call` is a question of an Intertie agent. */
export function isAskCall({ name, call_id: id }: { readonly [key: string]: unknown }): boolean {
  return name === askTool && typeof id === 'string' && id.startsWith(askPrefix);
}

/** Call id of a question. Questions and tool calls may have the same id, and clients reject repeated call ids. */
export function toAskCallId({ questionId }: Pick<Question, 'questionId'>): string {
  return `${askPrefix}${questionId}`;
}

/** Arguments of the `ask` call for a question. `call` is the tool call that the question is about. */
export function toAskArguments(question: Question, call?: { name: string; arguments: string }): JsonObject {
  const { kind, message, reason, schema } = question;
  return defined({ kind, message: message ?? reason, schema, tool: call?.name, input: call?.arguments });
}

/** Reads the output of an `ask` call: JSON or plain text. An approval needs an explicit yes. */
export function readAskOutput({ questionId, kind }: Question, output: string): Answer {
  const value = parseOutput(output);
  if (kind === 'input') return { questionId, value };
  const { approved, approve = approved, reason } = asFields(value);
  const isYes = value === true || (typeof value === 'string' && /^\s*(?:yes|y|ok|approved?|true)\b/i.test(value));
  const isApproved = approve === true || isYes;
  return { questionId, approved: isApproved, ...(typeof reason === 'string' && { reason }) };
}

/** Parses JSON. Any other text is its own value. */
export function parseOutput(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
