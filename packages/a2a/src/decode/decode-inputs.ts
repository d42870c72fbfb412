import type { AgentEvent, Emit, Json, JsonObject } from '@intertie/core';
import { asFields, asNonEmptyText, asText, defined, type Fields } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import { isInterrupted, type A2APart } from '../shared/a2a-types.ts';

export type InputStatus = {
  parts: readonly A2APart[];
  text: string;
  /** Id of the question, if the status has no structured ones. */
  key: string;
  /** Questions and calls that were emitted already. */
  asked: Set<string>;
  at?: number;
};

/** Emits the questions of a task that waits for input, and returns the decisions that its run waits for. */
export function decodeInputs({ parts, text, key, asked, at }: InputStatus, emit: Emit<AgentEvent>): Waiting[] {
  const time = defined({ at });
  const requests = getRequests(parts);
  if (requests.length === 0) {
    if (!asked.has(key))
      emit({ type: 'question', questionId: key, kind: 'input', message: text, ...plainText, ...time });
    asked.add(key);
    return [{ type: 'question', questionId: key }];
  }
  return requests.map((request): Waiting => {
    const id = String(request.questionId);
    const isNew = !asked.has(id);
    asked.add(id);
    if (request.kind === 'client-tool') {
      const toolName = asNonEmptyText(request.tool) ?? 'tool';
      const input = (request.input ?? null) as Json;
      if (isNew) emit({ type: 'tool-call', toolCallId: id, toolName, input, executor: 'client', ...time });
      return { type: 'tool', toolCallId: id };
    }
    const kind = request.kind === 'approval' ? 'approval' : 'input';
    const message = asText(request.message) ?? (text || undefined);
    const fields = defined({ message, reason: asText(request.reason), expiresAt: asText(request.expiresAt) });
    const schema = request.schema === undefined ? {} : { schema: request.schema as Json };
    if (isNew)
      emit({ type: 'question', questionId: id, kind, ...fields, ...schema, ...toCallMetadata(request), ...time });
    return { type: 'question', questionId: id };
  });
}

/** Returns the ids of the questions and calls that a task waits for; none if it does not wait. */
export function listInputIds(taskId: string | undefined, status: unknown): string[] {
  const { state, message } = asFields(status);
  if (!isInterrupted(state)) return [];
  const { parts } = asFields(message);
  const requests = getRequests(Array.isArray(parts) ? parts : []);
  return requests.length > 0
    ? requests.map(({ questionId }) => String(questionId))
    : [toTextQuestionId(taskId, status)];
}

/** Creates the id of a question that an agent asks with text only. */
export function toTextQuestionId(taskId: string | undefined, status: unknown): string {
  const { message, timestamp } = asFields(status);
  return asNonEmptyText(asFields(message).messageId) ?? `${taskId ?? 'task'}:${asText(timestamp) ?? 'input'}`;
}

function getRequests(parts: readonly unknown[]): Fields[] {
  return parts.flatMap((part) => {
    const data = asFields(asFields(part).data);
    return asNonEmptyText(data.questionId) === undefined ? [] : [data];
  });
}

/**
 * Preserves the tool that an approval is about. It does not become a tool call, because the agent does not report results of its own
 * tools.
 */
function toCallMetadata({ tool, toolCallId, input }: { readonly [key: string]: unknown }): {
  providerMetadata?: { a2a: JsonObject };
} {
  const call = defined({ tool, toolCallId, input }) as JsonObject;
  return Object.keys(call).length > 0 ? { providerMetadata: { a2a: call } } : {};
}

/** Marks a question that has no id on the wire: its answer is sent as text. */
const plainText = { providerMetadata: { a2a: { answer: 'text' } } } as const;
