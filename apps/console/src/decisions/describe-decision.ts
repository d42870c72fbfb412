import type { Json } from '@intertie/core';
import type { DecisionRequest } from '@intertie/core/store';

/** Finds the question in the input of a tool that asks the user. */
export function findQuestion(input: unknown): string | undefined {
  const { question, prompt, message } = (input ?? {}) as { question?: unknown; prompt?: unknown; message?: unknown };
  return [question, prompt, message].find((text): text is string => typeof text === 'string' && text !== '');
}

/** Finds the choices in the input of a tool that asks the user. */
export function findChoices(input: unknown): string[] | undefined {
  const { choices, options } = (input ?? {}) as { choices?: unknown; options?: unknown };
  const list = [choices, options].find((value) => Array.isArray(value)) as unknown[] | undefined;
  return list !== undefined && list.length > 0 && list.every((item) => typeof item === 'string') ? list : undefined;
}

/** Formats the input on one line of at most 120 characters. */
export function summarizeInput(input: unknown): string {
  if (typeof input === 'string') return input.slice(0, 120);
  if (typeof input !== 'object' || input === null) return '';
  const entries = Object.entries(input).map(
    ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return entries.join(', ').slice(0, 120);
}

/** Describes a decision in one line, for lists and notes. */
export function describeDecision(decision: DecisionRequest): string {
  if (decision.kind === 'client-tool') return findQuestion(decision.input) ?? `Result of ${decision.toolName}`;
  const { message, reason } = decision.question;
  return message ?? reason ?? (decision.kind === 'approval' ? 'Approval of a tool call' : 'A question');
}

/** Whether a text is a valid answer, so that the composer can send it. */
export function acceptsText(decision: DecisionRequest): boolean {
  if (decision.kind === 'client-tool') return findQuestion(decision.input) !== undefined;
  return decision.kind === 'input' && isTextSchema(decision.question.schema);
}

function isTextSchema(schema: Json | undefined): boolean {
  if (schema === undefined) return true;
  return (
    typeof schema === 'object' &&
    schema !== null &&
    !Array.isArray(schema) &&
    schema.type === 'string' &&
    !('enum' in schema)
  );
}
