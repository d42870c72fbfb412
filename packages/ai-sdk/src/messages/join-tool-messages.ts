import { applyAnswer, type CanonicalMessage, type OnLoss } from '@intertie/core';
import { defined, type ToolPart } from '@intertie/core/internal';
import type { ToolAnswer } from '@intertie/core/store';

/** Moves the results of imported `tool` messages to the calls before them, where canonical messages have them. */
export function joinToolMessages(messages: readonly CanonicalMessage[], onLoss: OnLoss): CanonicalMessage[] {
  const joined: CanonicalMessage[] = [];
  for (const message of messages) {
    if (message.role !== 'tool') joined.push(message);
    else for (const part of message.content.parts) if (part.type === 'tool-invocation') addResult(part, joined, onLoss);
  }
  return joined;
}

function addResult(part: ToolPart, messages: CanonicalMessage[], onLoss: OnLoss): void {
  const answer = toToolAnswer(part);
  const index = messages.findLastIndex(({ content }) =>
    content.parts.some((call) => call.type === 'tool-invocation' && call.toolCallId === part.toolCallId),
  );
  const message = messages[index];
  if (!message || !answer) {
    const why = 'It has no result, or no earlier call has this id.';
    return onLoss({ kind: 'repaired', what: 'tool message', why, id: part.toolCallId });
  }
  messages[index] = { ...message, content: applyAnswer(message.content, answer) };
}

/** Returns the outcome of a call as an answer. Undefined: the call has none yet. */
export function toToolAnswer(part: ToolPart): ToolAnswer | undefined {
  const { toolCallId, state, result = null, error, resultContent: content } = part;
  switch (state) {
    case 'result':
      return { toolCallId, status: 'ok', output: result, ...defined({ content }) };
    case 'error':
      return { toolCallId, status: 'error', error: error ?? { message: 'The tool failed.' } };
    case 'denied':
      return { toolCallId, status: 'denied', ...(error && { reason: error.message }) };
    default:
      return undefined;
  }
}
