import { applyAnswer, type CanonicalMessage, type OnLoss } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { ToolAnswer } from '@intertie/core/store';

/** Imports bring messages of the role `tool`. Their results belong to the calls before them, as in every message we make. */
export function joinToolMessages(messages: readonly CanonicalMessage[], onLoss: OnLoss): CanonicalMessage[] {
  const joined: CanonicalMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') joined.push(message);
    else for (const part of message.content.parts) if (part.type === 'tool-invocation') settle(part, joined, onLoss);
  }
  return joined;
}

function settle(part: ToolPart, messages: CanonicalMessage[], onLoss: OnLoss): void {
  const answer = answerOf(part);
  const index = messages.findLastIndex(({ content }) =>
    content.parts.some((call) => call.type === 'tool-invocation' && call.toolCallId === part.toolCallId),
  );
  const message = messages[index];
  if (!message || !answer) {
    const why = 'No call before it has this id, or it is no result.';
    return onLoss({ kind: 'repaired', what: 'tool message', why, id: part.toolCallId });
  }
  messages[index] = { ...message, content: applyAnswer(message.content, answer) };
}

function answerOf({ toolCallId, state, result, resultContent, error }: ToolPart): ToolAnswer | undefined {
  if (state === 'result')
    return { toolCallId, status: 'ok', output: result ?? null, ...(resultContent && { content: true }) };
  if (state === 'error') return { toolCallId, status: 'error', error: error ?? { message: 'The tool failed.' } };
  return state === 'denied' ? { toolCallId, status: 'denied', ...(error && { reason: error.message }) } : undefined;
}
